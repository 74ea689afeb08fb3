"""Real input for non-maximum suppression: coins found in a photograph by a sliding window, drawn before and after.

The score of a window is its normalised correlation with a bright disc on dark ground (J. P. Lewis, "Fast normalized
cross-correlation", 1995), for a dozen sizes of the disc. Around each coin thousands of windows score high.
"""

from pathlib import Path

import numpy as np

DIAMETERS = range(34, 68, 3)
THRESHOLD = 0.6


def candidates():
    """The photograph [H, W] in uint8, and the candidates: boxes [n, 4] (x1, y1, x2, y2) and scores [n] in float32."""
    from skimage import data
    from skimage.feature import match_template

    photograph = data.coins()  # ships with scikit-image
    boxes, scores = [], []
    for diameter in DIAMETERS:
        margin = diameter // 8
        side = diameter + 2 * margin
        y, x = np.mgrid[:side, :side] - (side - 1) / 2
        disc = (np.hypot(x, y) <= diameter / 2).astype(float)
        score = match_template(photograph / 255, disc)
        row, column = np.nonzero(score > THRESHOLD)
        corner = np.column_stack([column, row]) + margin
        boxes.append(np.concatenate([corner, corner + diameter], axis=1))
        scores.append(score[row, column])
    return photograph, np.concatenate(boxes).astype(np.float32), np.concatenate(scores).astype(np.float32)


def draw(photograph, boxes, scores, kept, path, scale=3):
    """Saves the picture: all candidates on the left, what was kept on the right."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = photograph.shape
    size = (width * scale, height * scale)
    ground = Image.fromarray(photograph).resize(size, Image.Resampling.LANCZOS).convert("RGB")
    head, gap = 16 * scale, 4 * scale
    sheet = Image.new("RGB", (2 * ground.width + 3 * gap, ground.height + head + gap), "white")
    title, small = ImageFont.load_default(size=8 * scale), ImageFont.load_default(size=5 * scale)

    # Thousands of outlines over each other: what many boxes cover becomes solid, what few cover stays faint.
    count = np.zeros((height, width), np.float32)
    for x1, y1, x2, y2 in boxes.astype(int):
        count[y1:y2, [x1, x2 - 1]] += 1
        count[[y1, y2 - 1], x1:x2] += 1
    cover = Image.fromarray((np.sqrt(count / count.max()) * 255).astype(np.uint8))
    cover = cover.resize(size, Image.Resampling.BICUBIC)
    before = Image.composite(Image.new("RGB", size, "#ff8c1a"), ground, cover)

    after = ground.copy()
    pen = ImageDraw.Draw(after)
    for i in kept:
        x1, y1, x2, y2 = (float(v) * scale for v in boxes[i])
        pen.rectangle((x1, y1, x2, y2), outline="#2ee66b", width=scale)
        label = f"{scores[i]:.2f}"
        box = pen.textbbox((x1 + scale, y1 + scale), label, font=small)
        pen.rectangle((x1, y1, box[2] + scale, box[3] + scale), fill="#2ee66b")
        pen.text((x1 + scale, y1 + scale), label, fill="black", font=small)

    text = ImageDraw.Draw(sheet)
    for column, (picture, caption) in enumerate((
        (before, f"{len(boxes):,} candidate boxes"),
        (after, f"{len(kept)} kept by non-maximum suppression"),
    )):
        left = gap + column * (ground.width + gap)
        sheet.paste(picture, (left, head))
        text.text((left + ground.width / 2, head / 2), caption, fill="black", font=title, anchor="mm")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
