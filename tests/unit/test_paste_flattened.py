"""Code that was pasted without its indentation has it again, block by block."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from analyzers.paste import legible
from analyzers.paste.flattened import MAX_LINES
from analyzers.paste.pasted import Pasted

WHOLE = {
    "a class and a loop": """\
        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.line = nn.Linear(3, width)
            def forward(self, x):
                hidden = self.line(x)
                scale = hidden.norm()
                return hidden / scale
        net = Net(4)
        for epoch in range(2):
            for x, y in loader:
                loss = (net(x) - y).pow(2).mean()
                loss.backward()
            print(epoch)
        """,
    "a class whose last method returns nothing": """\
        class Meter:
            def __init__(self):
                self.seen = []
            def add(self, value):
                self.seen.append(value)
        torch.manual_seed(0)
        meter = Meter()
        """,
    "fields of a class": """\
        @dataclass
        class Step:
            seen: torch.Tensor
            reward: float = 0.0
            def total(self):
                return self.seen.sum() + self.reward
        step = Step(torch.ones(2))
        """,
    "a function that is called below": """\
        def train():
            for x in loader:
                net(x).sum().backward()
        train()
        """,
    "a closure and a wrapper": """\
        def cached(function):
            store = {}
            def wrapper(key):
                store[key] = function(key)
                return store[key]
            return wrapper
        for x in loader:
            def closure():
                loss = net(x).sum()
                loss.backward()
                return loss
            optimizer.step(closure)
        """,
    "training, then evaluation": """\
        for epoch in range(3):
            for x, y in train_loader:
                loss = criterion(net(x), y)
                loss.backward()
            net.eval()
            for x, y in test_loader:
                check(net(x), y)
        """,
    "a sum and a list that a loop fills": """\
        total = 0
        outputs = []
        for x in xs:
            h = cell(x, h)
            outputs.append(h)
            total = total + h.sum()
        total.backward()
        y = torch.stack(outputs)
        """,
    "conditions": """\
        for i, x in enumerate(loader):
            if i == 0:
                x = x.float()
            elif i == 1:
                x = x.double()
            else:
                x = x.half()
            loss = net(x).sum()
            if i % 4 == 3:
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            if cached is not None:
                key, value = cached
                use(key, value)
            try:
                save(loss)
            except OSError:
                pass
        """,
    "parameters, layers": """\
        for step in range(9):
            for p in net.parameters():
                p.grad = None
            for layer in layers:
                x = layer(x)
            loss = x.sum()
            loss.backward()
        """,
    "what is computed without a graph": """\
        for x in loader:
            with torch.no_grad():
                goal = target(x)
            loss = (net(x) - goal).square().mean()
            loss.backward()
            with torch.no_grad():
                weight -= 0.1 * weight.grad
                weight.grad.zero_()
        """,
    "one model, then another": """\
        for x in loader:
            for _ in range(3):
                fake = generator(noise())
                critic(fake).mean().backward()
                opt_g.step()

            loss = critic(fake.detach()).mean() - critic(x).mean()
            loss.backward()
            opt_c.step()
        """,
    "a program's start": """\
        def main():
            net = Net()
            net(x).sum().backward()
        if __name__ == "__main__":
            torch.manual_seed(0)
            main()
        """,
}


def flat(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines()) + "\n"


def restored(text: str) -> Pasted:
    pasted = legible(text)
    assert pasted is not None
    return pasted


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE.keys())
def test_blocks_end_where_they_did(text: str) -> None:
    text = dedent(text)
    pasted = restored(flat(text))
    assert pasted.restored
    assert ast.unparse(ast.parse(pasted.text)) == ast.unparse(ast.parse(text))


def test_two_empty_lines_end_every_block() -> None:
    pasted = restored("def f(x):\ny = g(x)\nh(y)\n\n\nprint(1)\n")
    assert pasted.text == "def f(x):\n    y = g(x)\n    h(y)\n\n\nprint(1)\n"


def test_a_patch_is_shown_with_the_indentation_and_the_words_around() -> None:
    sent = "It does not learn:\nfor x in loader:\nloss = net(x).sum()\nloss.backward()\n"
    pasted = restored(sent)
    patched = pasted.text.replace("backward()", "backward(retain_graph=True)")
    assert pasted.back(patched) == (
        "It does not learn:\n"
        "for x in loader:\n"
        "    loss = net(x).sum()\n"
        "    loss.backward(retain_graph=True)\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "for x in loader:\n    net(x).backward()\noops\n",
        "x = net(1)\nx.backward()\nit fails, why?\n",
        "x = net(1)\nfor y in x:\nthat is all I have\n",
    ],
)
def test_what_has_its_indentation_or_needs_none_stays(text: str) -> None:
    assert not restored(text).restored


def test_a_text_that_is_too_long_or_too_deep_is_left_flat() -> None:
    for text in ("if a:\n" * 40 + "b()\n", "if a:\nb()\n" * MAX_LINES):
        pasted = legible(text)
        assert pasted is None or "  " not in pasted.text
