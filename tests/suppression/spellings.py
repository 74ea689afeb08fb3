"""Non-maximum suppression as it is spelled in published code: one computation, in which the array of what is left is
only ever filtered. All take ``(boxes[n, 4], scores[n], threshold, limit)``, and most hand back a list of positions."""

import numpy as np


def where_as_it_is(boxes, scores, threshold, limit):
    """What `np.where` gives, without its only item taken out."""
    x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1 + 1) * (y2 - y1 + 1)
    order = np.argsort(scores)
    picked = []
    while order.size > 0 and len(picked) < limit:
        index = order[-1]
        picked.append(index)
        a1 = np.maximum(x1[index], x1[order[:-1]])
        a2 = np.minimum(x2[index], x2[order[:-1]])
        b1 = np.maximum(y1[index], y1[order[:-1]])
        b2 = np.minimum(y2[index], y2[order[:-1]])
        w = np.maximum(0.0, a2 - a1 + 1)
        h = np.maximum(0.0, b2 - b1 + 1)
        intersection = w * h
        ratio = intersection / (areas[index] + areas[order[:-1]] - intersection)
        keep = np.where(ratio < threshold)
        order = order[keep]
    return picked


def where_after_shortening(boxes, scores, threshold, limit):
    """The array is made shorter first, and then filtered."""
    x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0 and len(picked) < limit:
        i = order[0]
        picked.append(i)
        order = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[order]) - np.maximum(x1[i], x1[order]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[order]) - np.maximum(y1[i], y1[order]))
        inter = w * h
        ratio = inter / (areas[i] + areas[order] - inter)
        keep = np.where(ratio < threshold)
        order = order[keep]
    return picked


def where_item(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[np.where(iou <= threshold)[0]]
    return picked


def taken(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = np.argsort(-scores)
    picked = []
    while len(order) > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], np.take(x2, rest)) - np.maximum(x1[i], np.take(x1, rest)))
        h = np.maximum(0.0, np.minimum(y2[i], np.take(y2, rest)) - np.maximum(y1[i], np.take(y1, rest)))
        inter = w * h
        iou = inter / (areas[i] + np.take(areas, rest) - inter)
        inds = np.where(iou <= threshold)[0]
        order = np.take(rest, inds)
    return picked


def taken_one_later(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while len(order):
        i = order[0]
        picked.append(i)
        w = np.maximum(0.0, np.minimum(x2[i], x2[order[1:]]) - np.maximum(x1[i], x1[order[1:]]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[order[1:]]) - np.maximum(y1[i], y1[order[1:]]))
        inter = w * h
        iou = inter / (areas[i] + areas[order[1:]] - inter)
        order = order.take(np.flatnonzero(iou <= threshold) + 1)
    return picked


def flat(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.shape[0] > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[np.flatnonzero(iou <= threshold)]
    return picked


def argwhere_ravelled(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[np.argwhere(iou <= threshold).ravel()]
    return picked


def argwhere_column(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        w = np.maximum(0.0, np.minimum(x2[i], x2[order[1:]]) - np.maximum(x1[i], x1[order[1:]]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[order[1:]]) - np.maximum(y1[i], y1[order[1:]]))
        inter = w * h
        iou = inter / (areas[i] + areas[order[1:]] - inter)
        inds = np.argwhere(iou <= threshold)[:, 0]
        order = order[inds + 1]
    return picked


def argwhere_squeezed(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[np.argwhere(iou <= threshold).squeeze(1)]
    return picked


def nonzero_item(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        (left,) = np.nonzero(iou <= threshold)
        order = rest[left]
    return picked


def compressed(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = np.compress(iou <= threshold, rest)
    return picked


def compressed_by_method(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()
    picked = []
    while order.size > 0:
        i = order[-1]
        picked.append(i)
        rest = order[:-1]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest.compress(iou <= threshold)
    return picked


def deleted(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        order = np.delete(order, 0)
        w = np.maximum(0.0, np.minimum(x2[i], x2[order]) - np.maximum(x1[i], x1[order]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[order]) - np.maximum(y1[i], y1[order]))
        inter = w * h
        iou = inter / (areas[i] + areas[order] - inter)
        order = np.delete(order, np.where(iou > threshold)[0])
    return picked


def deleted_where(boxes, scores, threshold, limit):
    """`np.delete` takes what `np.where` gives as it is."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = np.delete(rest, np.where(iou > threshold))
    return picked


def masked(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while True:
        if order.size == 0:
            break
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        mask = ~(iou > threshold)
        order = rest[mask]
    return picked


def masked_twice(boxes, scores, threshold, limit):
    """Two filters one behind the other in a step."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        order = order[order != i]
        w = np.maximum(0.0, np.minimum(x2[i], x2[order]) - np.maximum(x1[i], x1[order]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[order]) - np.maximum(y1[i], y1[order]))
        inter = w * h
        iou = inter / (areas[i] + areas[order] - inter)
        order = order[iou <= threshold]
    return picked


def for_with_break(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    for _ in range(limit):
        if order.size == 0:
            break
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[iou <= threshold]
    return picked


def leaves_before_the_last(boxes, scores, threshold, limit):
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        if order.size == 1:
            break
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[iou <= threshold]
    return picked


def classes(boxes, scores, threshold, limit):
    """One suppression for each of three classes, whose boxes are found by a mask."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    labels = np.arange(len(scores)) % 3
    picked = []
    for c in range(3):
        chosen = np.where(labels == c)[0]
        order = chosen[np.argsort(-scores[chosen])]
        while order.size > 0:
            i = order[0]
            picked.append(i)
            rest = order[1:]
            w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
            h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
            inter = w * h
            iou = inter / (areas[i] + areas[rest] - inter)
            order = rest[iou <= threshold]
    return picked


def after_a_filter(boxes, scores, threshold, limit):
    valid = scores > 0.25
    boxes = boxes[valid]
    scores = scores[valid]
    x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[np.where(iou <= threshold)[0]]
    return picked


def order_after_a_filter(boxes, scores, threshold, limit):
    """Only the order is filtered by scores, before the loop."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1]
    order = order[scores[order] > 0.25]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[iou <= threshold]
    return picked


def best_of_order(boxes, scores, threshold, limit):
    """No more than the best 300 are looked at."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = scores.argsort()[::-1][:300]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        w = np.maximum(0.0, np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]))
        inter = w * h
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[iou <= threshold]
    return picked


def rows(boxes, scores, threshold, limit):
    """Corners as rows of a matrix."""
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        low = np.maximum(boxes[i, :2], boxes[rest, :2])
        high = np.minimum(boxes[i, 2:], boxes[rest, 2:])
        inter = np.prod(np.maximum(high - low, 0), axis=1)
        iou = inter / (areas[i] + areas[rest] - inter)
        order = rest[iou <= threshold]
    return picked


def rows_named(boxes, scores, threshold, limit):
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        others = boxes[order[1:]]
        box = boxes[i]
        low = np.maximum(box[:2], others[:, :2])
        size = np.clip(np.minimum(box[2:], others[:, 2:]) - low, 0, None)
        inter = size[:, 0] * size[:, 1]
        iou = inter / (areas[i] + areas[order[1:]] - inter)
        order = order[1:][iou <= threshold]
    return picked


def _iou(box, boxes):
    x1 = np.maximum(box[0], boxes[:, 0])
    y1 = np.maximum(box[1], boxes[:, 1])
    x2 = np.minimum(box[2], boxes[:, 2])
    y2 = np.minimum(box[3], boxes[:, 3])
    inter = np.maximum(0, x2 - x1) * np.maximum(0, y2 - y1)
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return inter / (area + areas - inter)


def helper(boxes, scores, threshold, limit):
    """A function for the overlap, and areas on the way."""
    order = np.argsort(scores)[::-1]
    picked = []
    while len(order) > 0:
        picked.append(order[0])
        iou = _iou(boxes[order[0]], boxes[order[1:]])
        keep = np.where(iou <= threshold)[0]
        order = order[keep + 1]
    return picked


def helper_on_rest(boxes, scores, threshold, limit):
    """The helper of others: what overlaps is asked of all, with the best among them."""
    order = scores.argsort()[::-1]
    picked = []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        iou = _iou(boxes[i], boxes[order])
        keep = iou <= threshold
        keep[0] = False
        order = order[keep]
    return picked


def boxes_shrink(boxes, scores, threshold, limit):
    """Sorted boxes shrink themselves; what is picked are boxes."""
    order = scores.argsort()[::-1]
    boxes = boxes[order]
    picked = []
    while len(boxes) > 0:
        best = boxes[0]
        picked.append(best)
        iou = _iou(best, boxes[1:])
        boxes = boxes[1:][iou <= threshold]
    return picked


def all_shrink(boxes, scores, threshold, limit):
    """Boxes, scores and positions shrink together, sorted before."""
    order = np.argsort(-scores)
    boxes, scores = boxes[order], scores[order]
    picked, points = [], []
    while order.size > 0:
        picked.append(order[0])
        points.append(scores[0])
        keep = np.where(_iou(boxes[0], boxes[1:]) <= threshold)[0] + 1
        order, boxes, scores = order[keep], boxes[keep], scores[keep]
    return picked, points


def best_each_time(boxes, scores, threshold, limit):
    """Nothing is sorted: the best of what is left is searched, and boxes and scores shrink together."""
    left = np.arange(len(scores))
    picked = []
    while left.size > 0:
        best = np.argmax(scores)
        picked.append(left[best])
        keep = _iou(boxes[best], boxes) <= threshold
        keep[best] = False
        left, boxes, scores = left[keep], boxes[keep], scores[keep]
    return picked


def best_of_rest(boxes, scores, threshold, limit):
    """The best of what is left, through positions."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    left = np.arange(len(scores))
    picked = []
    while left.size > 0:
        i = left[np.argmax(scores[left])]
        picked.append(i)
        left = left[left != i]
        w = np.maximum(0.0, np.minimum(x2[i], x2[left]) - np.maximum(x1[i], x1[left]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[left]) - np.maximum(y1[i], y1[left]))
        inter = w * h
        left = left[inter / (areas[i] + areas[left] - inter) <= threshold]
    return picked


def corner_of_the_first(boxes, scores, threshold, limit):
    """The mask itself looks at the first box, while boxes and scores get fewer."""
    order = np.argsort(-scores)
    boxes, scores = boxes[order], scores[order]
    picked = []
    while len(scores) > 0:
        picked.append(scores[0])
        far = np.abs(boxes[1:, 0] - boxes[0, 0]) + np.abs(boxes[1:, 1] - boxes[0, 1]) > 10
        boxes, scores = boxes[1:][far], scores[1:][far]
    return picked


def corner_of_the_last(boxes, scores, threshold, limit):
    """The best one is the last; what is in front of it is looked at with it."""
    order = np.argsort(scores)
    boxes, scores = boxes[order], scores[order]
    picked = []
    while len(boxes) > 0:
        picked.append(scores[-1])
        far = (boxes[:-1, 0] - boxes[-1, 0]) ** 2 > 25
        scores = scores[:-1][far]
        boxes = boxes[:-1][far]
    return picked


def removed_named(boxes, scores, threshold, limit):
    """What is deleted has a name: the last one, and what `np.where` finds."""
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    order = np.argsort(scores)
    picked = []
    while len(order) > 0:
        last = len(order) - 1
        i = order[last]
        picked.append(i)
        w = np.maximum(0.0, np.minimum(x2[i], x2[order[:last]]) - np.maximum(x1[i], x1[order[:last]]))
        h = np.maximum(0.0, np.minimum(y2[i], y2[order[:last]]) - np.maximum(y1[i], y1[order[:last]]))
        inter = w * h
        iou = inter / (areas[i] + areas[order[:last]] - inter)
        gone = np.concatenate(([last], np.where(iou > threshold)[0]))
        order = np.delete(order, gone)
    return picked


def flags_of_numbers(boxes, scores, threshold, limit):
    """Plain loops over positions of 32 bits, and flags that are numbers."""
    x, y = boxes[:, 0], boxes[:, 1]
    order = scores.argsort()[::-1].astype(np.int32)
    count = boxes.shape[0]
    suppressed = np.zeros((count), dtype=np.int32)
    picked = []
    for a in range(count):
        i = order[a]
        if suppressed[i] == 1:
            continue
        picked.append(i)
        for b in range(a + 1, count):
            j = order[b]
            if suppressed[j] == 1:
                continue
            if (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2 <= threshold:
                suppressed[j] = 1
    return picked


def _pairs(a, b):
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    size = np.clip(np.minimum(a[:, None, 2:], b[None, :, 2:]) - low, 0, None)
    inter = size[..., 0] * size[..., 1]
    one, two = ((x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (a, b))
    return inter / (one[:, None] + two[None, :] - inter)


def row_of_pairs(boxes, scores, threshold, limit):
    """A helper for all pairs, of which one row is taken; the last box ends the loop."""
    order = np.argsort(-scores)
    picked = []
    while len(order):
        i = order[0]
        picked.append(i)
        if len(order) == 1:
            break
        iou = _pairs(boxes[i : i + 1], boxes[order[1:]])[0]
        order = order[1:][iou <= threshold]
    return picked
