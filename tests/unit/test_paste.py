"""Texts as people paste them: what is code is read at its own lines, and the error is found."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.paste import legible
from analyzers.paste.diffs import after_changes
from analyzers.paste.margins import without_numbers, without_quotes
from analyzers.paste.pasted import Pasted
from analyzers.paste.quoted import with_quoted
from analyzers.request.causes import RankedCause, classify
from analyzers.request.examine import examine
from analyzers.request.examined import Examined
from analyzers.source.project import Project
from tests.sheets import sections
from tests.unit.test_reading_growth import calls

PASTES = {
    section.title: section.blocks
    for section in sections((Path(__file__).parents[1] / "pastes.md").read_text("utf-8"))
}
EXPECTED: dict[str, dict[str, Any]] = {
    name: tomllib.loads(expected.text) for name, (expected, _) in PASTES.items()
}


def sent(name: str) -> str:
    return PASTES[name][1].text


def causes(examined: Examined) -> list[RankedCause]:
    project = Project(examined.files, examined.entry, recalled=examined.recalled)
    reading = examined.reading
    return classify(project, (*reading.suspected, *reading.evidence))


@pytest.mark.parametrize("box", ["script", "traceback"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_paste_is_read_in_either_box(name: str, box: str) -> None:
    text, expected = sent(name), EXPECTED[name]
    boxes = (text, "") if box == "script" else ("", text)
    examined = examine(boxes[0], "train.py", {}, boxes[1])
    assert examined.problem is None
    family = examined.traceback.family if examined.traceback else "other"
    assert family == (expected["family"] or "other")
    python = examined.files["train.py"].splitlines()
    assert len(python) == len(text.splitlines()) or examined.recalled
    for line, code in expected.get("lines", {}).items():
        assert python[int(line) - 1].strip() == code
    if "pattern" in expected:
        first = causes(examined)[0]
        assert first.pattern == expected["pattern"]
        assert expected.get("line", first.location.line) == first.location.line
    if "told" in expected:
        assert [cause.pattern for cause in examined.from_traceback] == [expected["told"]]
    if "hint" in expected:
        assert any(expected["hint"] in hint.text for hint in examined.hints)
    if "first" in expected:
        assert expected["first"] in examined.hints[0].text
    for part in expected.get("unsaid", ()):
        assert not [h for h in examined.hints if part in h.text]
        assert not [c for c in examined.from_traceback if part in f"{c.explanation} {c.remedy}"]


def test_what_became_a_keyword_of_python_has_the_name_that_torch_gave_it() -> None:
    pasted = legible("y = y.cuda(async=True)\nprint y\n")
    assert pasted is not None
    assert pasted.text == "y = y.cuda(non_blocking=True)\nprint(y)\n"


PROGRAMS = [name for name in EXPECTED if not examine(sent(name), "train.py", {}, "").recalled]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_patch_is_reported_in_what_was_pasted(name: str) -> None:
    examined = examine(sent(name), "train.py", {}, "")
    python = examined.files["train.py"]
    pasted = examined.pasted["train.py"]
    assert pasted.back(python) == sent(name)
    lines = python.splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.strip())
    from_traceback = pasted.back("".join([*lines[:at], "seed(0)\n", *lines[at:]])).splitlines()
    assert from_traceback[at].endswith("seed(0)")
    assert from_traceback[:at] + from_traceback[at + 1 :] == sent(name).splitlines()


TEXT = st.text(alphabet=st.sampled_from("ab1 \t\n():=.,[]{}\"'#>`-~/\\…“;*@"), max_size=300)
WORDS = st.lists(
    st.sampled_from(
        ["for x in y:", "  a = 1", "\tb = 2", "else:", "```", "```python", ">>> f(", "...", ")",
         "hello there", "", "class A:", "@me", '"""', "Traceback (most recent call last):",
         '  File "a.py", line 1, in f', "RuntimeError: no", "In [3]: x = 1", "Out[3]: 1", "# c",
         "print x", "try:", "except E, e:", "x = (", "return", "if a: \\"]
    ), max_size=40,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(TEXT, WORDS.map("\n".join)))
def test_whatever_is_pasted_becomes_python_of_as_many_lines_or_nothing(text: str) -> None:
    pasted = legible(text)
    if pasted is None:
        return
    ast.parse(pasted.text)
    assert len(pasted.text.splitlines()) == len(text.splitlines())
    assert pasted.back(pasted.text) == text


def test_python_stays_as_it_is() -> None:
    text = "# RuntimeError: Trying to backward through the graph a second time\nloss.backward()\n"
    examined = examine(text, "train.py", {}, "")
    assert (examined.files["train.py"], examined.pasted) == (text, {})
    assert examined.traceback is None


@pytest.mark.parametrize(
    "text",
    [
        'Hi,\n\nhas anyone seen this?\n\n"RuntimeError: No inf checks were recorded."\n',
        'ValueError("No inf checks were recorded")\n\nSince when?\n'
        "AssertionError: No inf checks were recorded for this optimizer.\n",
        "My settings:\n\n```\n[train]\nlr = 0.1\nresume = true\nnames = ['a']\n```\n"
        "AssertionError: No inf checks were recorded for this optimizer.\n",
    ],
)
def test_quoted_messages_and_settings_are_no_program(text: str) -> None:
    examined = examine(text, "train.py", {}, "")
    assert examined.recalled
    assert examined.traceback is not None
    assert examined.traceback.family == "no-grad"


def test_a_frame_without_its_head_is_no_program() -> None:
    text = (
        'scripts\\venv\\Lib\\site-packages\\torch\\amp\\grad_scaler.py", line 264, in _unscale_\n'
        '    raise ValueError("Attempting to unscale FP16 gradients.")\n'
        "ValueError: Attempting to unscale FP16 gradients.\n"
    )
    assert examine(text, "train.py", {}, "").recalled


def test_a_message_above_its_own_traceback_takes_no_frames_from_it() -> None:
    message = "ValueError: Attempting to unscale FP16 gradients.\n"
    frames = (
        "Traceback (most recent call last):\n"
        '  File "/srv/tune.py", line 90, in <module>\n    main()\n'
        '  File "/srv/tune.py", line 71, in main\n    scaler.unscale_(opt)\n'
    )
    examined = examine(f"{message}{frames}{message}", "train.py", {}, "")
    assert [frame.line for frame in examined.traceback.frames] == [90, 71]  # type: ignore[union-attr]


def test_words_alone_are_no_program() -> None:
    examined = examine("My loss does not go down.\nWhy is that?\n", "train.py", {}, "")
    assert examined.problem is not None


def test_a_question_in_words_alone_has_its_usual_causes() -> None:
    words = "With gradient checkpointing all gradients of my LoRA layers are 'None'. Why?\n"
    examined = examine(words, "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert "enable_input_require_grads" in examined.hints[0].text
    assert "checkpoint" not in examine("p.grad is None, why?\n", "a.py", {}, "").hints[0].text


@pytest.mark.parametrize(
    "words",
    [
        "my generator does not learn",
        "The generator of my GAN doesn't train, what is wrong?",
        "Why do the weights of the generator not change during training?",
        "the generator is stuck",
        "training has no effect on the generator",
    ],
)
def test_one_question_has_one_answer_however_it_is_worded(words: str) -> None:
    examined = examine(words, "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert "D(fake.detach())" in examined.hints[0].text


def test_a_word_that_ends_like_a_negation_is_none() -> None:
    assert examine("I want to train a model", "train.py", {}, "").asked is None
    assert examine("every component is updated", "train.py", {}, "").asked is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("The codebook of my tokenizer never changes: its gradient is None.", "straight-through"),
        ("stem.0.weight has None grad\nstem.1.weight has None grad", "frozen"),
        ("Gradient checkpointing blocks the update of my adapters.", "use_reentrant=False"),
        ("训练100轮后模型权重没有更新，为什么？", "frozen"),
        ("In the second round with PEFT all lora_B weights remain zero.", "is_trainable=True"),
    ],
)
def test_what_the_words_name_comes_first(words: str, part: str) -> None:
    examined = examine(f"{words}\n", "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert part in examined.hints[0].text


@pytest.mark.parametrize(
    "words",
    [
        "# torch.compile: wrong second-order gradients of my energy\n\nx = 1",
        "`torch.compile` and double backward\n",
    ],
)
def test_second_derivatives_of_what_is_compiled_are_asked_about(words: str) -> None:
    assert examine(words, "train.py", {}, "").asked == "compiled-twice-differentiated"


@pytest.mark.parametrize(
    "words", ["Cannot enable gradients during validation", "Grad in validation?"]
)
def test_gradients_in_an_evaluation_are_asked_about(words: str) -> None:
    code = "from pytorch_lightning import Trainer\n\nTrainer().validate(net, rows)\n"
    examined = examine(f"# {words}\n\n{code}", "train.py", {}, "")
    assert examined.asked == "gradients-in-evaluation"
    assert "`Trainer(inference_mode=False)`" in examined.hints[0].text


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("autograd.grad(create_graph=True) gives requires_grad=False", "derivative-without-graph"),
        ("Setting requires_grad does nothing under torch.compile", "compiled-flags"),
        ("GPU usage is increasing with every epoch", "memory-grows"),
        ("Host RAM: continuous rising until the process is killed", "memory-grows"),
        ("VRAM climbs until OOM", "memory-grows"),
        ("显存不断增加，为什么？", "memory-grows"),
        ("What can I do if my loss isn't coming down?", "nothing-learns"),
        ("I see no change in the loss.", "nothing-learns"),
        ("My LoRA weights don't seem to get updated", "nothing-learns"),
        ("Part of the graph is lost under autocast", "nothing-learns"),
        ("backward returns NaN gradients", "gradient-is-nan"),
    ],
)
def test_a_question_is_known_by_what_it_names(words: str, entry: str) -> None:
    assert examine(f"{words}\n", "train.py", {}, "").asked == entry


CODE = "from net import net, batch\n\nloss = net(batch).mean()\nloss.backward()\n"


@pytest.mark.parametrize("form", ["# {}\n\n{}", "{}\n\n{}", "## {}\n\n```python\n{}```\n"])
@pytest.mark.parametrize(
    "title", ["Why is `x.grad` None after backward()?", "Weights not changing #7"]
)
def test_a_title_asks(title: str, form: str) -> None:
    assert examine(form.format(title, CODE), "train.py", {}, "").asked == "nothing-learns"


def test_a_title_above_python_quotes_the_error() -> None:
    text = (
        "# Trying to backward through the graph a second time, two losses #12\n\n"
        "from net import body, heads, batch\n\nshared = body(batch)\n"
        "for head in heads:\n    head(shared).mean().backward()\n"
    )
    examined = examine(text, "train.py", {}, "")
    assert (examined.files["train.py"], examined.pasted) == (text, {})
    assert examined.traceback is not None
    assert examined.traceback.family == "graph-reuse"


@pytest.mark.parametrize("comment", ["# print(net.weight.grad) gave None\n", "# not updated: lr\n"])
def test_a_comment_is_no_title(comment: str) -> None:
    assert examine(comment + CODE, "train.py", {}, "").asked is None
    below = CODE.replace("\n\n", f"\n\n{comment}\n", 1)
    assert examine(below, "train.py", {}, "").asked is None


def test_memory_that_is_full_in_an_evaluation_has_the_graphs_of_it_as_first_cause() -> None:
    printed = (
        "It is full as soon as the epoch has ended.\n\n```\nTraceback (most recent call last):\n"
        '  File "fit.py", line 9, in <module>\n    main()\n'
        '  File "fit.py", line 5, in validate\n    scores = net(rows)\n'
        "RuntimeError: CUDA error: out of memory\n```\n"
    )
    examined = examine(printed, "train.py", {}, "")
    assert "torch.no_grad()" in examined.hints[0].text
    assert "evaluation" in examined.hints[0].text
    assert examine("# GPU memory keeps rising while testing\n", "a.py", {}, "").asked


def test_words_that_no_space_parts_are_no_code() -> None:
    words = "在哪里设置requires_grad=True呢\n\n请问，谢谢。\n"
    assert examine(words, "train.py", {}, "").no_program
    code = "def step(net, x):\n    net.update(x)\n    print(net.weight.grad)  # 此处结果为None\n"
    examined = examine(f"进入 step() 方法，net.grad 的梯度为None\n\n{code}", "train.py", {}, "")
    assert (examined.fault, examined.asked) == (None, "nothing-learns")


@pytest.mark.parametrize(
    "words",
    [
        "I call optimizer.zero_grad(set_to_none=True) each time.",
        "The model does not fit into memory.",
        "Why did the learning rate not change?",
        "I detach the state between batches, and use torch.no_grad() in evaluation.",
        "A graph network in which edges are missing",
        'The reviewer says "memory leak, and p.grad is None", but it works. Who is right?',
        "p.grad is None, and then: Trying to backward through the graph a second time",
        "p.grad is None, and then\n\nValueError: too many dimensions 'str'",
    ],
)
def test_nothing_is_asked_next_to_an_error_or_of_code(words: str) -> None:
    assert examine(f"{words}\n", "train.py", {}, "").asked is None


@pytest.mark.parametrize(
    "unit",
    ["x = f(\n", '"""\n', "if a:\n", "hello (world\n", ">>> f(\n", "a = '\\\n", "'\"",
     "print x, (\n", "except E, ", "// ", "In [1]: x\n", "@a\n", "  " * 50 + "x\n"],
)  # fmt: skip
def test_work_grows_in_proportion_to_the_text(unit: str) -> None:
    short, long = (unit * (length // len(unit)) for length in (1_500, 6_000))
    assert calls(lambda: legible(long)) < 6 * calls(lambda: legible(short)) + 5_000


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (["9  for x in xs:", "10      step(x)", "11"], ["for x in xs:", "    step(x)", ""]),
        (["| 1 | a = 2 |", "| 2 | b = 3 |", "| 3 | c = 4 |"], ["a = 2", "b = 3", "c = 4"]),
        (["1: a = 2", "2: b = 3", "3: c = 4"], ["a = 2", "b = 3", "c = 4"]),
        (["--> 7 a = 2", "8 b = 3", "9 c = 4"], ["a = 2", "b = 3", "c = 4"]),
        (["3 apples", "7 pears", "9 plums"], ["3 apples", "7 pears", "9 plums"]),
        (["84    a = f(b)", "", "86    a.x = 1"], ["a = f(b)", "", "a.x = 1"]),
        (["86 a = 2", "84 b = 3"], ["86 a = 2", "84 b = 3"]),
    ],
)
def test_numbers_of_lines_are_no_part_of_them(sent: list[str], read: list[str]) -> None:
    assert without_numbers(sent) == read


def test_a_quoted_quote_is_read_and_a_prompt_is_none() -> None:
    assert without_quotes(["> > a = 2", "> > b = 3", ">>> c"]) == ["a = 2", "b = 3", ">>> c"]


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
