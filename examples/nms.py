"""Non-maximum suppression in the four forms in common use, compiled as they stand.

Detectors give many overlapping boxes for one object; non-maximum suppression takes the best box, drops all that overlap
it by more than a threshold, and goes on with the rest. Each step depends on the one before, and the arrays shrink.

    python examples/nms.py
"""

import time

import numpy as np


def nms(boxes, scores, max_output, iou_threshold):
    """The last of an ascending order, and a boolean mask; at most `max_output` results."""
    x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1) * (y2 - y1)
    order = np.argsort(scores)
    keep = []
    while order.size > 0 and len(keep) < max_output:
        i = order[-1]
        keep.append(i)
        rest = order[:-1]
        xx1 = np.maximum(x1[i], x1[rest])
        yy1 = np.maximum(y1[i], y1[rest])
        xx2 = np.minimum(x2[i], x2[rest])
        yy2 = np.minimum(y2[i], y2[rest])
        inter = np.maximum(xx2 - xx1, 0) * np.maximum(yy2 - yy1, 0)
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[iou <= iou_threshold]
    return np.array(keep, dtype=np.int64)


def nms_descending(dets, thresh):
    """The first of a descending order, and `inds + 1`: as in R. Girshick's Fast R-CNN. `dets` rows: box, then score."""
    x1 = dets[:, 0]
    y1 = dets[:, 1]
    x2 = dets[:, 2]
    y2 = dets[:, 3]
    scores = dets[:, 4]

    areas = (x2 - x1 + 1) * (y2 - y1 + 1)
    order = scores.argsort()[::-1]

    keep = []
    while order.size > 0:
        i = order[0]
        keep.append(i)
        xx1 = np.maximum(x1[i], x1[order[1:]])
        yy1 = np.maximum(y1[i], y1[order[1:]])
        xx2 = np.minimum(x2[i], x2[order[1:]])
        yy2 = np.minimum(y2[i], y2[order[1:]])

        w = np.maximum(0.0, xx2 - xx1 + 1)
        h = np.maximum(0.0, yy2 - yy1 + 1)
        inter = w * h
        ovr = inter / (areas[i] + areas[order[1:]] - inter)

        inds = np.where(ovr <= thresh)[0]
        order = order[inds + 1]

    return keep


def nms_delete(boxes, probs, overlap_thresh):
    """Indices deleted from a sorted list: as in T. Malisiewicz's and A. Rosebrock's."""
    if len(boxes) == 0:
        return []

    pick = []
    x1 = boxes[:, 0]
    y1 = boxes[:, 1]
    x2 = boxes[:, 2]
    y2 = boxes[:, 3]
    area = (x2 - x1 + 1) * (y2 - y1 + 1)
    idxs = np.argsort(probs)

    while len(idxs) > 0:
        last = len(idxs) - 1
        i = idxs[last]
        pick.append(i)

        xx1 = np.maximum(x1[i], x1[idxs[:last]])
        yy1 = np.maximum(y1[i], y1[idxs[:last]])
        xx2 = np.minimum(x2[i], x2[idxs[:last]])
        yy2 = np.minimum(y2[i], y2[idxs[:last]])
        w = np.maximum(0, xx2 - xx1 + 1)
        h = np.maximum(0, yy2 - yy1 + 1)
        overlap = (w * h) / area[idxs[:last]]

        idxs = np.delete(idxs, np.concatenate(([last], np.where(overlap > overlap_thresh)[0])))

    return pick


def nms_flags(boxes, scores, thresh):
    """Flags of what is suppressed, and two loops."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    n = len(order)
    suppressed = np.zeros(n, dtype=bool)
    keep = []
    for position in range(n):
        i = order[position]
        if suppressed[i]:
            continue
        keep.append(i)
        rest = order[position + 1 :]
        w = np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest])
        h = np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest])
        inter = np.clip(w, 0, None) * np.clip(h, 0, None)
        iou = inter / (areas[i] + areas[rest] - inter)
        suppressed[rest[iou > thresh]] = True
    return np.array(keep, dtype=np.int64)


def candidates(n, dtype=np.float32, seed=0):
    """`n` seeded candidate boxes, jittered around n/20 objects in a 1024 x 1024 picture, with scores."""
    random = np.random.default_rng(seed)
    objects = random.uniform(0, 960, (max(1, n // 20), 2))
    corner = objects[random.integers(len(objects), size=n)] + random.normal(0, 6, (n, 2))
    size = random.uniform(32, 64, (n, 2))
    boxes = np.concatenate([corner, corner + size], axis=1).astype(dtype)
    return boxes, random.permutation(n).astype(dtype) / dtype(max(1, n))


def arguments(n=1024, dtype=np.float32, seed=0):
    """The arguments of each form for `n` candidates."""
    boxes, scores = candidates(n, dtype, seed)
    return {
        nms: (boxes, scores, 128, 0.5),
        nms_descending: (np.column_stack([boxes, scores]), 0.5),
        nms_delete: (boxes, scores, 0.5),
        nms_flags: (boxes, scores, 0.5),
    }


def main():
    import transkern

    for function, args in arguments().items():
        compiled = transkern.compile(function)
        compiled(*args)  # the first call compiles
        start = time.perf_counter()
        expected = function(*args)
        middle = time.perf_counter()
        kept = compiled(*args)
        end = time.perf_counter()
        assert np.array_equal(kept, expected)
        print(f"{function.__name__:15}{len(kept):5} of {len(args[0])} boxes kept    ", end="")
        print(f"NumPy {1e3 * (middle - start):6.2f} ms    transkern {1e3 * (end - middle):6.3f} ms")


if __name__ == "__main__":
    main()
