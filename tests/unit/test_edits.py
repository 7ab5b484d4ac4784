"""Edits leave every untouched byte alone, and their diffs apply."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.source.edits import Edit, EditConflict, Editor, apply, leave_python, unified_diff
from analyzers.source.project import Module

LOOP = """\
for x in xs:  # é, and a comment
\ty = f(x)
\tif y: y.backward(); step()
\t@decorated
\tdef inner(): pass
"""


def editor_of(text: str) -> Editor:
    return Editor(Module("a.py", text))


def body(editor: Editor) -> list[ast.stmt]:
    loop = editor.module.tree.body[0]
    assert isinstance(loop, ast.For)
    return loop.body


def test_insertions_take_the_indentation_of_their_neighbour() -> None:
    editor = editor_of(LOOP)
    edits = [
        editor.insert_before(body(editor)[0], "a()"),
        editor.insert_after(body(editor)[0], "b()"),
    ]
    assert apply(LOOP, edits) == LOOP.replace("\ty = f(x)\n", "\ta()\n\ty = f(x)\n\tb()\n")


def test_a_decorated_function_is_inserted_before_its_decorator() -> None:
    editor = editor_of(LOOP)
    text = apply(LOOP, [editor.insert_before(body(editor)[2], "a()")])
    assert "\ta()\n\t@decorated\n" in text


def test_statements_that_share_a_line_are_edited_within_it() -> None:
    editor = editor_of(LOOP)
    condition = body(editor)[1]
    assert isinstance(condition, ast.If)
    first, second = condition.body
    assert "\tif y: step()\n" in apply(LOOP, [editor.delete(first)])
    assert "\tif y: y.backward()\n" in apply(LOOP, [editor.delete(second)])
    assert "\tif y: a(); y.backward(); step()\n" in apply(
        LOOP, [editor.insert_before(first, "a()")]
    )


def test_a_block_among_statements_of_one_line_gets_lines_of_its_own() -> None:
    text = "def f():\n    a(); b(); c()  # end\n"
    editor = editor_of(text)
    function = editor.module.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = ("if x:", "    y()")
    before = apply(text, [editor.insert_before(function.body[1], *lines)])
    assert before == "def f():\n    a()\n    if x:\n        y()\n    b(); c()  # end\n"
    after = apply(text, [editor.insert_after(function.body[1], *lines)])
    assert after == "def f():\n    a(); b()\n    if x:\n        y()\n    c()  # end\n"


def test_a_header_with_its_block_on_one_line_takes_no_block() -> None:
    """Joined by `;` what is put there is no Python, and is refused; nothing moves to another
    level."""
    text = "for x in xs: a(); b()\n"
    editor = editor_of(text)
    edits = [editor.insert_before(body(editor)[1], "y = f(", "    x)")]
    assert not leave_python(editor.module, edits, apply(text, edits))


def test_the_lines_of_a_statement_among_others_are_its_own() -> None:
    editor = editor_of("a(); b = [1,\n  2]; c()  # end\nd()  # kept\n")
    lines = [editor.lines_of(statement) for statement in editor.module.tree.body]
    assert lines == [["a()"], ["b = [1,", "  2]"], ["c()"], ["d()  # kept"]]


def test_the_only_statement_of_a_block_becomes_pass() -> None:
    text = "if x:\n    y()\n"
    editor = editor_of(text)
    condition = editor.module.tree.body[0]
    assert isinstance(condition, ast.If)
    assert apply(text, [editor.delete(condition.body[0])]) == "if x:\n    pass\n"


def test_columns_count_bytes_but_edits_count_characters() -> None:
    text = 'é = "ü" + f(x)\n'
    editor = editor_of(text)
    assign = editor.module.tree.body[0]
    assert isinstance(assign, ast.Assign)
    assert isinstance(assign.value, ast.BinOp)
    assert apply(text, [editor.append_to(assign.value.right, ".g()")]) == 'é = "ü" + f(x).g()\n'
    assert apply(text, [editor.append_to(assign.value, ".g()")]) == 'é = ("ü" + f(x)).g()\n'


def test_windows_line_ends_stay_and_spread() -> None:
    text = "for x in y:\r\n    f(x)\r\n"
    editor = editor_of(text)
    assert apply(text, [editor.insert_after(body(editor)[0], "g(x)")]) == (
        "for x in y:\r\n    f(x)\r\n    g(x)\r\n"
    )


def test_a_last_line_without_newline_gets_a_successor() -> None:
    text = "for x in y:\n    f(x)"
    editor = editor_of(text)
    assert apply(text, [editor.insert_after(body(editor)[0], "g(x)")]) == (
        "for x in y:\n    f(x)\n    g(x)"
    )


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(EditConflict):
        apply("abcdef", [Edit("a.py", 0, 3, "x"), Edit("a.py", 2, 5, "y")])
    with pytest.raises(EditConflict):
        apply("abcdef", [Edit("a.py", 3, 3, "x"), Edit("a.py", 3, 3, "y")])


def test_what_is_inserted_where_another_edit_begins_comes_before_it() -> None:
    assert apply("abcdef", [Edit("a.py", 3, 5, "Y"), Edit("a.py", 3, 3, "x")]) == "abcxYf"


@given(st.lists(st.sampled_from(["a = 1", "b = 2", "c()", "# note", ""]), min_size=1, max_size=12))
def test_deleting_and_inserting_leaves_other_lines_in_order(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    editor = editor_of(text)
    statements = editor.module.tree.body
    if not statements:
        return
    after = apply(text, [editor.insert_before(statements[-1], "new()")])
    assert [line for line in after.splitlines() if line != "new()"] == lines


@pytest.mark.parametrize("end", ["\n", ""])
def test_diffs_apply_with_git(tmp_path: Path, end: str) -> None:
    before = "a = 1\nb = 2" + end
    after = "a = 1\nc = 3\nb = 4" + end
    (tmp_path / "train.py").write_text(before)
    subprocess.run(
        ["git", "apply", "-"],
        input=unified_diff("train.py", before, after),
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert (tmp_path / "train.py").read_text() == after


@pytest.mark.parametrize(
    ("line", "column", "reported"),
    [
        (1, 0, "a()"),
        (1, 5, "é = b()"),
        (1, 9, "é = b()"),
        (1, 15, "c(\n  d)"),
        (1, -1, "c(\n  d)"),
        (1, 99, "c(\n  d)"),
        (2, 2, "c(\n  d)"),
        (3, 6, "e()"),
        (3, 3, "if f: e()"),
        (9, 0, None),
    ],
)
def test_of_several_statements_on_a_line_the_column_reports_which(
    line: int, column: int, reported: str | None
) -> None:
    editor = editor_of("a(); é = b(); c(\n  d)\nif f: e()\n")
    statement = editor.module.statement_at(line, column)
    assert (editor.text_of(statement) if statement is not None else None) == reported


def test_a_decorator_goes_next_to_its_function() -> None:
    text = "class A:\n    @property\n    def f(self):\n        return 1\n\n    def g(self): pass\n"
    editor = Editor(Module("a.py", text))
    functions = [n for n in ast.walk(editor.module.tree) if isinstance(n, ast.FunctionDef)]
    made = apply(text, [editor.decorate(function, "@once") for function in functions])
    assert "    @property\n    @once\n    def f(self):\n" in made
    assert "\n    @once\n    def g(self): pass\n" in made
