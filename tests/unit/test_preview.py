"""The picture next to a shared link: small, bounded, and true to the result."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from app.present.preview import MARGIN, SIZE, Preview, png, preview_of
from tests.serving import serving
from tests.unit.test_pages_parts import cause
from tests.unit.test_picture import diagnosis


def pixels(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("L")


def dark_below(image: Image.Image, y: int) -> bool:
    """Whether something is written between `y` and the line at the foot."""
    return darkest(image, (MARGIN, y, SIZE[0] - MARGIN, SIZE[1] - 100)) < 128


def darkest(image: Image.Image, box: tuple[int, int, int, int]) -> int:
    return min(image.crop(box).tobytes())


def test_it_says_what_where_and_what_was_tested() -> None:
    reported = preview_of(diagnosis(cause()).model_copy(update={"summary": "`h` keeps it. More."}))
    assert reported.headline == "h keeps it."
    assert reported.place == "train.py, line 40"


@pytest.mark.parametrize("text", ["x" * 5000, "word " * 900, "", "a\x1b[31m\u202e<b>"])
def test_it_is_bounded_whatever_is_written(text: str) -> None:
    reported = preview_of(diagnosis(cause()).model_copy(update={"summary": text}))
    content = png(reported)
    assert len(content) < 150_000
    image = pixels(content)
    assert image.size == SIZE
    edge = (SIZE[0] - MARGIN + 4, 0, *SIZE)
    assert darkest(image, edge) > 200  # nothing runs over it


def test_what_is_known_is_written_below_the_headline() -> None:
    short = Preview("Healthy", "good", "It is healthy.")
    longer = Preview("Fixed", "good", "It is fixed.", "train.py, line 4", "h = f(h)", "Detach h")
    assert not dark_below(pixels(png(short)), 260)
    assert dark_below(pixels(png(longer)), 260)


async def test_the_page_names_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        name = (await http.post("/v1/diagnoses", json={"script": "x = 1\n"})).json()["id"]
        address = f"http://test/d/{name}/preview.png"
        assert f'property="og:image" content="{address}"' in (await http.get(f"/d/{name}")).text
        answer = await http.get(address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
        await http.delete(f"/v1/diagnoses/{name}")
        assert (await http.get(address)).status_code == 404
