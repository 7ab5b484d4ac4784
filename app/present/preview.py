"""The preview picture of a shared link: what is wrong, where, and whether a fix was tested."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from app.present import fix_wording, wording
from app.present.visible import visible
from app.schemas import Diagnosis

SIZE = (1200, 630)
MARGIN = 72
KEPT = 64  # pictures, of some 40 kB each
LONGEST = 220  # characters of a sentence
MOST_LINES = 4
FOOT = "Gradmend: autograd errors, explained and fixed"
PAPER, INK, SOFT, LINE = "#fbfaf7", "#23211d", "#625d54", "#dfdad0"
TONES: dict[wording.Tone, str] = {"good": "#0d6354", "unsure": "#855600", "plain": "#625d54"}


@dataclass(frozen=True, slots=True)
class Preview:
    """What stands in the picture."""

    badge: str
    tone: wording.Tone
    headline: str
    place: str = ""
    code: str = ""
    fix: str = ""


def preview_of(diagnosis: Diagnosis) -> Preview:
    """Return the text of a finished diagnosis' preview."""
    said = wording.sentences(diagnosis.summary)[0] or wording.headline(diagnosis)
    place = code = fix = ""
    for cause in diagnosis.causes[:1]:
        place = f"{cause.location.file}, {cause.location.cell or f'line {cause.location.line}'}"
        code = cause.location.code.strip()
    for patch in diagnosis.patches[:1]:
        fix = f"{patch.title} ({fix_wording.proof(patch)})"
    parts = (_plain(text) for text in (said, place, code, fix))
    return Preview(wording.headline(diagnosis), wording.tone(diagnosis), *parts)


def _plain(text: str) -> str:
    return visible(" ".join(text[:LONGEST].split())).replace("`", "")


@lru_cache(KEPT)
def png(preview: Preview) -> bytes:
    """Return the picture as PNG, 1200 by 630 pixels."""
    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    colour = TONES[preview.tone]
    draw.rectangle((0, 0, 16, SIZE[1]), fill=colour)
    y = _written(draw, MARGIN, preview.badge, 30, colour, lines=1, bold=True) + 22
    y = _written(draw, y, preview.headline, 50, INK, lines=MOST_LINES, bold=True) + 26
    if preview.place:
        y = _written(draw, y, preview.place, 32, SOFT, lines=1) + 10
    if preview.code:
        y = _written(draw, y, preview.code, 32, INK, lines=1) + 10
    if preview.fix:
        _written(draw, y + 8, preview.fix, 32, colour, lines=1)
    draw.line((MARGIN, SIZE[1] - 92, SIZE[0] - MARGIN, SIZE[1] - 92), fill=LINE, width=2)
    _written(draw, SIZE[1] - 74, FOOT, 28, SOFT, lines=1)
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def _written(
    draw: ImageDraw.ImageDraw,
    y: int,
    text: str,
    size: int,
    colour: str,
    *,
    lines: int,
    bold: bool = False,
) -> int:
    """Write a text in so many lines at most; the y below it."""
    font = ImageFont.load_default(size)
    for line in _broken(text, font, lines):
        draw.text((MARGIN, y), line, colour, font, stroke_width=0.5 if bold else 0)
        y += round(size * 1.3)
    return y


def _broken(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, most: int) -> list[str]:
    """Return the text in lines that fit, the last one cut if there is more."""
    width = SIZE[0] - 2 * MARGIN
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    cut = lines[:most]
    if len(lines) > most:
        cut[-1] += " …"
    return [_fitted(line, font, width) for line in cut]


def _fitted(line: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> str:
    while line and font.getlength(line) > width:
        line = line[: -2 - line.endswith("…")].rstrip() + "…"
    return line
