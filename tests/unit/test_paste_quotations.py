"""Statements that are quoted in words, parts of diffs, and versions tried one after another."""

from __future__ import annotations

import pytest

from analyzers.paste import legible
from analyzers.paste.diffs import after_changes
from analyzers.paste.pasted import Pasted
from analyzers.paste.quoted import with_quoted
from analyzers.request.examine import examine

QUOTED = """\
My own neuron. `reset()` clears it, `x = x.detach()` did not help.

```python
class Neuron(nn.Module):
    def forward(self, x):
        self.v = self.v + x
        return self.v

for x, y in loader:
    loss = F.mse_loss(net(x), y)
    loss.backward()
```

`net = nn.Sequential(Neuron(), Neuron())`, and `y` is one number a clip. `other = 3` is not used.
"""


def test_what_the_words_quote_stands_on_an_empty_line_ahead_of_its_use() -> None:
    pasted = legible(QUOTED)
    assert pasted is not None
    made = "net = nn.Sequential(Neuron(), Neuron())"
    assert pasted.text.splitlines()[7] == made  # the words themselves come too late
    assert pasted.quoted == [made]
    assert "other" not in pasted.text
    assert pasted.first_changed is None
    assert pasted.back(pasted.text) == QUOTED


def test_words_are_read_up_to_a_bound_and_never_as_more_than_one_statement() -> None:
    many = "so `net = f(1)` it is, or `net = f(2); other = 3`\n" * 200
    pasted = legible(f"{many}\nfor x in loader:\n    net(x).backward()\n")
    assert pasted is not None
    assert pasted.quoted == ["net = f(1)"]


def test_a_helper_that_was_pasted_next_to_a_whole_script_breaks_no_answer() -> None:
    examined = examine("import part\n", "train.py", {"part.py": ">>> x = 1\n"}, "")
    assert "train.py" not in examined.pasted


def test_a_quotation_ahead_of_its_use_stands_in_the_place_of_its_words() -> None:
    sent = "I have `net = build()` here\n\nfor x in loader:\n    net(x).backward()\n"
    pasted = legible(sent)
    assert pasted is not None
    assert pasted.text.splitlines()[0] == "net = build()"
    assert pasted.first_changed is None
    assert pasted.back(pasted.text) == sent


TWO_QUOTED = """\
On top of it all stand `w = nn.Parameter(torch.ones(3))` and 2 lines on `mix = w.softmax(0)`.

for x in loader:
    (mix * x).sum().backward()
"""
MIX = "mix = w.softmax(0)"


def test_statements_of_one_row_of_words_stand_behind_each_other() -> None:
    pasted = legible(TWO_QUOTED)
    assert pasted is not None
    made = ["w = nn.Parameter(torch.ones(3))", MIX]
    assert pasted.text.splitlines()[0] == "; ".join(made)
    assert pasted.quoted == made
    assert pasted.first_changed is None
    assert pasted.back(pasted.text) == TWO_QUOTED


def test_a_patch_of_quoted_statements_leaves_the_words_around_them() -> None:
    pasted = legible(TWO_QUOTED)
    assert pasted is not None
    detached = pasted.text.replace(MIX, f"{MIX}.detach()")
    assert pasted.back(detached) == TWO_QUOTED.replace(MIX, f"{MIX}.detach()")
    moved = pasted.text.replace(f"; {MIX}", "").replace("    (mix", f"    {MIX}\n    (mix")
    assert pasted.back(moved) == TWO_QUOTED.replace("    (mix", f"    {MIX}\n    (mix")
    alone = "I have `net = build()` here, 3 times\n\nfor x in loader:\n    net(x).backward()\n"
    pasted = legible(alone)
    assert pasted is not None
    first, *rest = pasted.text.splitlines(keepends=True)
    assert pasted.back("".join([first, first, *rest])) == alone.replace(
        "times\n", f"times\n{first}"
    )


def test_words_within_a_statement_take_no_other() -> None:
    python, text = "a = [\n\n1]\nf(net)\n", "a = [\n`net = g()`\n1]\nf(net)\n"
    assert with_quoted(python, text) == python


def test_of_many_quotations_those_that_are_wanted_are_taken_each_once() -> None:
    idle = " ".join(f"`unused_{n} = {n}`" for n in range(12))
    sent = f"Beside {idle} I have `net = build()`, and `net = build()` again.\n\n"
    pasted = legible(f"{sent}for x in loader:\n    net(x).backward()\n")
    assert pasted is not None
    assert pasted.quoted == ["net = build()"]


def test_a_line_of_code_between_backquotes_is_no_quotation() -> None:
    pasted = Pasted("net = build()\n", "`net = build()`\n")
    assert pasted.quoted == []


TRIED_AGAIN = """\
I first had

    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()

which said

{said}

so now it is

    penalty = net.weight.pow(2).sum()
    loss = criterion(net(x), y) + penalty
    total = loss.item()
    loss.backward(retain_graph=True)
"""


def test_what_is_run_backward_again_behind_an_error_is_another_version() -> None:
    def walks(text: str) -> int:
        return examine(text, "train.py", {}, "").files["train.py"].count("backward(")

    error = "    RuntimeError: Trying to backward through the graph a second time"
    assert walks(TRIED_AGAIN.format(said=error)) == 1
    assert walks(TRIED_AGAIN.format(said="nothing at all")) == 2


HUNK = """\
it worked before:
@@ -41,5 +41,5 @@ {header}
     opt = torch.optim.Adam([x])
     for r in range(rounds):
-        loss = miss(x)
+        loss = miss(x) + drift
         loss.backward()
     return x
"""


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("def solve(mics, rounds=40):", "def solve(mics, rounds=40):"),
        ("class Solver(nn.Module):", "class Solver(nn.Module):"),
        ("def solve(mics, rounds=40, drift=0.0, speed=34", ""),
        ("", ""),
    ],
)
def test_a_part_of_a_diff_stands_in_the_function_that_it_names(header: str, read: str) -> None:
    text = HUNK.format(header=header)
    lines = after_changes(text.splitlines())
    assert lines[1] == read
    assert lines[2:5] == ["    opt = torch.optim.Adam([x])", "    for r in range(rounds):", ""]
    assert after_changes(text.replace("\n     ", "\n ").splitlines())[1] == ""


def test_lines_typed_at_a_debuggers_prompt_are_code() -> None:
    text = "It fails here:\nipdb> embeds += images.mean() * 0.\n(Pdb) loss = embeds.sum()\n"
    read = legible(text)
    assert read is not None
    assert [line.strip() for line in read.text.splitlines()[1:]] == [
        "embeds += images.mean() * 0.",
        "loss = embeds.sum()",
    ]


def test_words_with_brackets_around_a_program_are_no_syntax_error() -> None:
    words = "My linter (and a colleague) wants me to take retain_graph=True out. It's needed, no?"
    code = "import torch\n\nw = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\n"
    assert examine(f"{words}\n\n{code}", "train.py", {}, "").fault is None
    assert examine(f"{code}print(w.grad\n", "train.py", {}, "").fault is not None


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("print('hi'", True),
        ("loss.backward(", True),
        ("x = [1,\n", True),
        ("How do I fix (this", False),
        ("hello world, this is not a program at all", False),
        ("my question is about: f(x", False),
    ],
)
def test_a_statement_that_is_only_begun_is_a_syntax_error(text: str, is_code: bool) -> None:
    found = examine(text, "train.py", {}, "")
    assert (found.fault is not None, found.no_program) == (is_code, not is_code)
    assert found.fault is None or (found.fault.line, found.fault.message[4:]) == (
        1,
        "was never closed",
    )
