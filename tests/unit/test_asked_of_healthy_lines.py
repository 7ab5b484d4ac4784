"""Lines that resemble a fault and are none, under a question that the fault would answer."""

from __future__ import annotations

import pytest

from analyzers.request.examine import examine

MODULE = "import torch.nn as nn\nclass Tower(nn.Module):\n    def __init__(self):\n{}"
LAYERS = "        self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]\n"
OWN = "class Root({base}):\n    def forward(self, x):\n        return f(x)\n"
OWN += "    def backward(self, g):\n        return torch.autograd.grad(self.y, self.x, g)\n"
FLAG = "class Value({base}):\n    pass\nclass Neuron:\n    def __init__(self):\n"
FLAG += "        self.w = Value(0.5)\n        self.w.requires_grad = True\n"
ENGINE = "import engine\nclass Neuron:\n    def __init__(self):\n"
ENGINE += "        self.w = engine.Value(0.5)\n        self.w.requires_grad = True\n"
LISTED = "import torch.nn as nn\nclass Net({base}):\n    def __init__(self):\n"
LISTED += "        self.parts = [{made} for _ in range(3)]\n"
TOTAL = "total_loss = 0\nfor page in pages:\n    loss = net(page)\n    total_loss += loss.item()\n"


@pytest.mark.parametrize(
    ("words", "faulty", "healthy", "part"),
    [
        (
            "My model does not learn, why?",
            MODULE.format(LAYERS),
            MODULE.format(LAYERS + "        self.net = nn.Sequential(*self.layers)\n"),
            "keeps layers in a plain list",
        ),
        (
            "My model does not learn, why?",
            OWN.format(base="torch.autograd.Function"),
            OWN.format(base="Operation"),
            "records nothing inside the `backward`",
        ),
        (
            "My model does not learn, why?",
            FLAG.format(base="nn.Module"),
            FLAG.replace("({base})", ""),
            "Python attribute",
        ),
        (
            "My model does not learn, why?",
            FLAG.format(base="nn.Module"),
            ENGINE,
            "Python attribute",
        ),
        (
            "My model does not learn, why?",
            "from blocks import Unit\n" + LISTED.format(base="nn.Module", made="Unit(4)"),
            "class Value:\n    pass\n" + LISTED.format(base="Module", made="Value(4)"),
            "keeps layers in a plain list",
        ),
        (
            "Why is item() used here, and not detach()?",
            TOTAL + "total_loss.backward()\n",
            TOTAL + "    loss.backward()\nprint(total_loss)\n",
            "is a number, so adding it",
        ),
    ],
)
def test_a_healthy_line_is_named_by_no_hint(
    words: str, faulty: str, healthy: str, part: str
) -> None:
    text = f"# {words}\n\n```python\nimport torch\n{{}}```\n"
    named = [
        any(part in hint.text for hint in examine(text.format(code), "train.py", {}, "").hints)
        for code in (faulty, healthy)
    ]
    assert named == [True, False]
