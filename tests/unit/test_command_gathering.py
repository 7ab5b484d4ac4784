"""What goes along with a script: the modules that it imports, the data that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.command.choosing import scripts_of
from app.command.gathering import Gathered, gather
from app.command.options import BadInput
from app.request.uploads import MOST_FILES


def write(root: Path, **files: str) -> None:
    """Files by their paths, with `__` for a slash and `_py` for `.py`."""
    for name, text in files.items():
        path = root / (name.replace("__", "/").removesuffix("_py") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def gathered(root: Path, entry: str = "train.py", **asked: object) -> Gathered:
    script = root / entry
    return gather(script, script.read_text(), root, **asked)  # type: ignore[arg-type]


def test_imports_are_followed_through_packages_and_back(tmp_path: Path) -> None:
    write(
        tmp_path,
        train="from models.net import Net\nimport losses, torch",
        models__net="from .parts import cell\nfrom .. import never\nimport train",
        models__parts="from models import head",
        models__head="",
        losses="",
        unused="",
    )
    (tmp_path / "models" / "__init__.py").write_text("")
    assert sorted(gathered(tmp_path).files) == [
        "losses.py",
        "models/__init__.py",
        "models/head.py",
        "models/net.py",
        "models/parts.py",
    ]


def test_modules_are_found_where_python_would_find_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    write(
        root,
        scripts__train="import near, above, inner, elsewhere, declared",
        scripts__near="",
        above="",
        src__inner="",
        python__declared="",
    )
    write(tmp_path / "shared", elsewhere="")
    (root / "pyproject.toml").write_text('[tool.setuptools.packages.find]\nwhere = ["python"]\n')
    monkeypatch.setenv("PYTHONPATH", f"../shared:{tmp_path / 'nowhere'}")
    found = gathered(root, "scripts/train.py")
    assert sorted(found.files) == [
        "above.py",
        "declared.py",
        "elsewhere.py",
        "scripts/near.py",
        "src/inner.py",
    ]
    assert found.origin["elsewhere.py"] == tmp_path / "shared" / "elsewhere.py"


def test_data_that_is_named_goes_along(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.csv").write_text("1,2\n")
    (tmp_path / "weights.npz").write_bytes(b"\0\xff")
    (tmp_path / "secret.txt").write_text("not named")
    write(tmp_path, train="open('data/rows.csv'); open('/etc/hostname'); open('../up.csv')")
    found = gathered(tmp_path, args=["--weights", "weights.npz"])
    assert {path: file.encoding for path, file in found.files.items()} == {
        "data/rows.csv": "utf-8",
        "weights.npz": "base64",
    }
    assert gathered(tmp_path, data=False).files == {}


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    names = [f"part{n}" for n in range(MOST_FILES + 2)]
    write(tmp_path, train="import " + ", ".join(names), **dict.fromkeys(names, ""))
    found = gathered(tmp_path)
    assert (len(found.files), len(found.left_out)) == (MOST_FILES, 2)


@pytest.mark.parametrize("text", ["def f(:", "\0", "(" * 5000, "{'cells': "])
def test_unreadable_source_imports_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_text(text)
    assert gathered(tmp_path).files == {}


def test_a_folder_denotes_what_trains_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        train="loss.backward()",
        model="import torch",
        lit__module="def training_step(self, batch): ...",
        env__lib="loss.backward()",
    )
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.py").write_text("loss.backward()")
    found = scripts_of((tmp_path, tmp_path / "train.py"))
    assert tmp_path / "train.py" in found
    assert [p.relative_to(tmp_path).as_posix() for p in found] == [
        "train.py",
        "lit/module.py",
    ]


def test_a_folder_without_a_training_is_refused(tmp_path: Path) -> None:
    write(tmp_path, model="import torch")
    with pytest.raises(BadInput, match="none of its 1 Python files calls"):
        scripts_of((tmp_path,))
