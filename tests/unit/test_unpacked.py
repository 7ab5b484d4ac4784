"""A project as a zip: what is taken, and what is refused."""

from __future__ import annotations

import io
import zipfile

import pytest

from app.http.problems import ProblemError
from app.request.unpacked import from_its_root, unpacked, with_unpacked
from app.request.uploads import FILES_LIMIT, as_file
from app.schemas import DiagnosisRequest


def zipped(files: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return held.getvalue()


def test_paths_are_kept_and_caches_left_out() -> None:
    sent = {
        "p/train.py": b"a",
        "p/net/a.py": b"b",
        "p/.git/config": b"c",
        "p/net/__pycache__/a.pyc": b"d",
        "__MACOSX/p/train.py": b"e",
    }
    assert unpacked("p.zip", zipped(sent)) == {"p/train.py": b"a", "p/net/a.py": b"b"}


def test_the_folder_around_everything_is_the_root() -> None:
    assert from_its_root({"p/train.py": b"", "p/net/a.py": b""}) == {
        "train.py": b"",
        "net/a.py": b"",
    }
    for apart in ({"train.py": b"", "net/a.py": b""}, {"p/a.py": b"", "q/b.py": b""}):
        assert from_its_root(apart) == apart


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK\x03\x04 no zip", "no zip that can be opened"),
        (zipped({"a.bin": bytes(FILES_LIMIT + 1)}), "holds more than"),
        (zipped({"a.bin": bytes(FILES_LIMIT), "b.bin": b"1"}), "holds more than"),
        (zipped({"a.py": b"x"}, zipfile.ZIP_LZMA), "packed unusually"),
        (bytes(FILES_LIMIT + 1), "the limit is 2,097,152"),
        (zipped({f"{n}.py": b"" for n in range(80)}), "holds 80 files; the limit is 64"),
    ],
    ids=["broken", "bomb", "sum", "lzma", "large", "many"],
)
def test_what_cannot_be_taken_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(ProblemError) as refusal:
        unpacked("p.zip", data)
    assert why in refusal.value.detail


def test_a_zip_among_the_files_is_the_project_and_has_the_script() -> None:
    project = zipped({"p/train.py": b"import net\nnet.loss.backward()\n", "p/net.py": b"x = 1\n"})
    found = with_unpacked(DiagnosisRequest(files=[as_file("p.zip", project)]))
    assert (found.filename, [file.path for file in found.files]) == ("train.py", ["net.py"])
    assert found.script.endswith("net.loss.backward()\n")
    data = DiagnosisRequest(script="open('p.zip')\n", files=[as_file("p.zip", project)])
    assert with_unpacked(data) is data


def test_a_folder_that_a_script_next_to_it_speaks_of_keeps_its_name() -> None:
    files = {"models/net.py": b""}
    assert from_its_root(files, "from models.net import Net\n") == files
    assert from_its_root(files, "from net import Net\n") == {"net.py": b""}
    assert from_its_root({"a.b-main/net.py": b""}, "x = 1\n") == {"net.py": b""}
