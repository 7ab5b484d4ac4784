"""The loader hands out every case once, with its expectations read and its variants patched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import Place, cases_of, load_case, load_cases, put_down
from tests.diffs import DiffError, difference, patched
from tests.sheets import Block, Section, SheetError, sections, written

CASES = load_cases()
GRU = """\
# recurrent_state

## gru

Words for readers.

```toml
pattern = "recurrent-state"
also = ["stored-graph", "accumulated-loss"]
raises = "RuntimeError: Trying"
carrier = ["h", "self.h"]
```

```python
import torch
h = model(h)  # expect: place
```

```diff fixed
@@ -1,2 +1,3 @@
 import torch
-h = model(h)
+h = h.detach()
+h = model(h)
```

```diff wrong_1
@@ -2 +2 @@
-h = model(h)
+h = model(h).data
```
"""
TWO_FILES = """\
## project

```python train.py
import model
```

```python model.py
h = step(h)  # expect: place
```

```diff fixed
--- model.py
+++ model.py
@@ -1 +1 @@
-h = step(h)
+h = step(h.detach())
```
"""


def test_no_expectation_is_left_in_what_the_service_gets() -> None:
    for case in CASES:
        assert not any("# expect:" in text for text in case.texts.values()), case.name


def test_names_are_unique_and_belong_to_their_sheet() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 600
    assert all(load_case(name).name == name for name in names[::50])
    with pytest.raises(KeyError, match="no_such"):
        load_case("recurrent_state/no_such")


def test_every_answer_is_read() -> None:
    (case,) = cases_of("recurrent_state", GRU)
    assert (case.name, case.entry) == ("recurrent_state/gru", "gru.py")
    assert (case.pattern, case.engine) == ("recurrent-state", "torch")
    assert case.also == ("stored-graph", "accumulated-loss")
    assert case.raises == "RuntimeError: Trying"
    assert case.carriers == ("h", "self.h")
    assert case.places == (Place("gru.py", 2),)
    assert case.stripped == "import torch\nh = model(h)\n"
    assert [(one.name, one.text) for one in (*case.fixed, *case.wrong)] == [
        ("fixed", "import torch\nh = h.detach()\nh = model(h)\n"),
        ("wrong_1", "import torch\nh = model(h).data\n"),
    ]


def test_a_case_of_several_files_keeps_its_modules(tmp_path: Path) -> None:
    (case,) = cases_of("recurrent_state", TWO_FILES)
    assert (case.entry, case.healthy) == ("train.py", True)
    assert case.files == {"model.py": "h = step(h)\n"}
    assert case.places == (Place("model.py", 1),)
    put_down(case.fixed[0].texts, tmp_path / "put")
    found = {path.name: path.read_text() for path in (tmp_path / "put").iterdir()}
    assert found == {"train.py": "import model\n", "model.py": "h = step(h.detach())\n"}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("-h = model(h)\n+h = h", "-h = net(h)\n+h = h", "recurrent_state/gru: .* line 1"),
        ("diff fixed", "diff mended", "fixed, fixed_2, wrong_1, …, not 'mended'"),
        ("carrier = ", "carier = ", "unknown keys: carier"),
        ('["h", "self.h"]', '"h"', "carrier is a list of names"),
        ('raises = "', "raises = ", "recurrent_state/gru: "),
        (".data\n```\n", ".data\n", "never closed"),
        ("## gru\n", "", "ahead of the first title"),
        ("```diff wrong_1", "```diff wrong_1\nwords", "no diff: "),
    ],
)
def test_a_sheet_that_cannot_be_read_names_what_is_wrong(
    old: str, new: str, complaint: str
) -> None:
    assert old in GRU
    with pytest.raises(SheetError, match=complaint):
        cases_of("recurrent_state", GRU.replace(old, new))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a\n"),
        ("a\n", ""),
        ("a\nb\nc\nd\ne\nf\ng\n", "0\na\nc\nd\ne\nx\ng\nh\n"),
        ("-- a\n++ b\n@@ -1 +1 @@\n", "-- b\n++ b\n--- a\n+++ a\n\n"),
        ("same\n", "same\n"),
        ("a\x0cb\n\n  \nc\n", "a\x0cc\n\n \nc\n"),
    ],
)
def test_a_diff_leads_back_to_every_byte(before: str, after: str) -> None:
    for name, other in (("train.py", {}), ("a.py", {"b.py": "b\n"})):
        old, new = {name: before, **other}, {name: after, **other}
        assert patched(old, difference(old, new)) == new


def test_a_diff_takes_files_of_the_same_names_only() -> None:
    with pytest.raises(DiffError, match=r"b\.py"):
        difference({"a.py": ""}, {"a.py": "", "b.py": ""})
    with pytest.raises(DiffError, match=r"no file b\.py"):
        patched({"a.py": "a\n"}, "--- b.py\n+++ b.py\n@@ -1 +1 @@\n-a\n+b\n")
    with pytest.raises(DiffError, match="no newline at the end: 'b'"):
        difference({"a.py": "a\n"}, {"a.py": "b"})


def test_what_is_written_is_read_again() -> None:
    blocks = (
        Block("python", "a.py", 'x = """\n```\n"""\n'),
        Block("text", "", "````\n"),
        Block("python", "empty.py", ""),
        Block("python", "cut.py", "x"),
        Block("traceback", "", "## no title\n\nRuntimeError"),
    )
    section = Section("a title", blocks)
    assert sections(f"# Sheet\n\n{written(section)}\n{written(section)}") == [section, section]
