"""What edits do to the text around them: texts of several lines, indentation, what is read on."""

from __future__ import annotations

import ast

from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import unindented
from analyzers.repair.cut.carrying import carried_names
from analyzers.repair.leaf.leaves import is_made_by_hand
from analyzers.repair.remake.chains import constructs
from analyzers.repair.value_only.storing import stored_detached
from analyzers.request.examine import examine
from analyzers.source.edits import Editor, apply
from analyzers.source.project import Module, Project
from provenance import CodeLine, Referrer


def test_a_block_taken_out_keeps_its_texts() -> None:
    text = 'if x is None:\n    x = """one\n    two"""\n    y = 1\n'
    module = Module("train.py", text)
    block = module.tree.body[0]
    assert isinstance(block, ast.If)
    assert unindented(Editor(module), block) == 'x = """one\n    two"""\ny = 1'


def test_what_a_function_goes_on_to_read_keeps_its_graph() -> None:
    text = (
        "class Net:\n"
        "    def forward(self, x):\n"
        "        self.out = self.fc(x)\n"
        "        return self.out\n"
    )
    project = Project({"train.py": text})
    found = stored_detached([Referrer("net.out")], CodeLine("train.py", 1), project)
    edits = next(found).edits
    assert apply(text, edits) == (
        "class Net:\n"
        "    def forward(self, x):\n"
        "        out = self.fc(x)\n"
        "        self.out = out.detach()\n"
        "        return out\n"
    )


def test_models_optimizers_and_loaders_are_not_recomputed() -> None:
    module = Module(
        "train.py",
        "class Net(nn.Module): ...\n"
        "net = Net()\nlayer = nn.Linear(1, 1)\nopt = torch.optim.SGD(net.parameters())\n"
        "batches = iter(DataLoader(data))\ndist = Normal(mu, sigma)\nz = net(x)\n",
    )
    made = [constructs(module, statement) for statement in module.tree.body[1:]]
    assert made == [True, True, True, True, False, False]


def test_what_is_asked_for_its_parameters_is_created_once_whoever_s_class_it_is() -> None:
    module = Module(
        "train.py",
        "import library\nmemory = library.memory(3)\n"
        "view = library.view(4)\nopt = torch.optim.SGD(memory.parameters(), lr=0.1)\n",
    )
    made = [constructs(module, statement) for statement in module.tree.body[1:3]]
    assert made == [True, False]


def test_a_loop_carries_no_target_of_its_own() -> None:
    lines = "for batch in loader:\n    batch = move(batch)\n    state = net(batch, state)\n"
    loop = Module("train.py", lines).tree.body[0]
    assert isinstance(loop, ast.For)
    assert carried_names(loop, {"state"}) == ["state"]


def hand_made(text: str, line: int) -> bool:
    module = Module("train.py", text)
    statement = module.statement_at(line)
    assert statement is not None
    return is_made_by_hand(SourceLocation(module, statement, CodeLine("train.py", line)))


def test_updates_by_hand_are_distinguished_from_writes_of_a_forward() -> None:
    assert hand_made("w -= 0.1 * w.grad\n", 1)
    assert hand_made("g = w.grad\nw.sub_(g)\n", 2)
    assert hand_made("loss.backward()\nw -= rate * step\n", 2)
    assert hand_made("w.uniform_(-1, 1)\n", 1)
    assert not hand_made("buffer[i] = net(x)\nloss = buffer.sum()\nloss.backward()\n", 1)
    assert not hand_made("x.mul_(10)\n", 1)


def test_deleted_slices_go_whole() -> None:
    script = (
        "import torch\n"
        "w = torch.ones(3, requires_grad=True)\n"
        "kept = []\n"
        "for _ in range(3):\n"
        "    for _ in range(2):\n"
        "        kept.append((w * w).sum())\n"
        "    sum(kept).backward()\n"
        "    del kept[:]\n"
    )
    assert not examine(script, "train.py", {}, "").reading.evidence
    assert examine(script.replace("kept[:]", "kept[0]"), "train.py", {}, "").reading.evidence
