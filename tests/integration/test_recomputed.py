"""Values are computed where a backward call needs them: only what carries a graph is recomputed,
in the function and in the loop that need it, and a cut goes behind what learns."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Patch
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = """\
import torch
from torch import nn
torch.manual_seed(0)
"""

HANDED_DOWN = (
    HEAD
    + """\
def prototypes(encoder, prompts):
    return nn.functional.normalize(encoder(prompts), dim=-1)
def run_epoch(images, texts, optimizer):
    for image in images:
        loss = (image @ texts.T).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
def main():
    encoder, prompts = nn.Linear(4, 3), nn.Parameter(torch.randn(5, 4))
    optimizer = torch.optim.SGD([prompts], lr=0.1)
    for epoch in range(2):
        texts = prototypes(encoder, prompts)
        run_epoch(torch.randn(3, 2, 3), texts, optimizer)
main()
"""
)
MADE_IN_ANOTHER_LOOP = (
    HEAD
    + """\
maker, critic = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3)), nn.Linear(3, 1)
steps = torch.optim.Adam(maker.parameters()), torch.optim.Adam(critic.parameters())
for turn in range(3):
    for inner in range(2):
        critic.zero_grad()
        fake = maker(torch.ones(2, 4))
        critic(fake.detach()).mean().backward()
        steps[1].step()
    for inner in range(2):
        maker.zero_grad()
        score = critic(fake)
        loss = -score.mean()
        loss.backward(retain_graph=True)
        steps[0].step()
"""
)
NOISY_TARGET = (
    HEAD
    + """\
def curve(values, at):
    return values["a"] * at + values["b"]
def start():
    values = {"a": torch.tensor(1.0), "b": torch.tensor(0.0)}
    for value in values.values():
        value.requires_grad_(True)
    return values
at = torch.linspace(0, 1, 20)
truth = {name: value.detach().clone() + 1 for name, value in start().items()}
measured = curve(truth, at) + 0.1 * torch.randn(20)
values = start()
optimizer = torch.optim.LBFGS(list(values.values()), max_iter=4)
for outer in range(2):
    residual = curve(values, at) - measured
    def closure():
        optimizer.zero_grad()
        loss = (residual ** 2).mean()
        loss.backward()
        return loss
    optimizer.step(closure)
"""
)
RUN_BACKWARD_BY_TWO = (
    HEAD
    + """\
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)
    def walk(self, value):
        (value / 2).backward()
    def training_step(self, batch):
        loss = self.net(batch).square().mean()
        self.walk(loss)
        return loss
def fit(part, data):
    optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
    for batch in data:
        optimizer.zero_grad()
        loss = part.training_step(batch)
        (loss / 2).backward()
        optimizer.step()
fit(Part(), torch.randn(4, 8, 3))
"""
)


STEPPED_BY_A_HELPER = (
    HEAD
    + """\
def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
policy, first, second = nn.Linear(4, 2), nn.Linear(2, 1), nn.Linear(2, 1)
steps = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (policy, first, second)]
for turn in range(3):
    states = torch.randn(8, 4)
    wanted = torch.randn(8, 2)
    first_loss, second_loss = first(wanted).square().mean(), second(wanted).square().mean()
    acted = policy(states)
    policy_loss = -torch.min(first(acted), second(acted)).mean()
    update(steps[1], first_loss)
    update(steps[2], second_loss)
    update(steps[0], policy_loss)
"""
)
PASSED_STRAIGHT_THROUGH = (
    HEAD
    + """\
class Book(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Embedding(6, 3)
    def forward(self, x):
        q = self.codes(torch.cdist(x, self.codes.weight).argmin(1))
        q = x + (q - x).detach()
        self.loss = (q - x.detach()).square().mean() + 0.25 * (q.detach() - x).square().mean()
        return q
encoder, book, decoder = nn.Linear(5, 3), Book(), nn.Linear(3, 5)
optimizer = torch.optim.Adam([*encoder.parameters(), *book.parameters(), *decoder.parameters()])
for step in range(12):
    x = torch.randn(16, 5)
    loss = (decoder(book(encoder(x))) - x).square().mean() + book.loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)


def changed(patch: Patch) -> tuple[list[str], list[str]]:
    """The lines that a patch takes out, and those that it puts in."""
    lines = patch.diff.splitlines()[2:]
    return (
        [line[1:].strip() for line in lines if line.startswith("-")],
        [line[1:].strip() for line in lines if line.startswith("+")],
    )


async def first_patch(service: Service, script: str) -> Patch:
    request = DiagnosisRequest(script=script, filename="train.py")
    first = (await service.ask(request, RUNNING)).patches[0]
    assert first.verification.status == "passed"
    return first


async def test_a_function_is_handed_what_the_value_is_made_of(service: Service) -> None:
    taken, put = changed(await first_patch(service, HANDED_DOWN))
    assert put == [
        "def run_epoch(images, encoder, prompts, optimizer):",
        "texts = prototypes(encoder, prompts)",
        "run_epoch(torch.randn(3, 2, 3), encoder, prompts, optimizer)",
    ]
    assert "texts = prototypes(encoder, prompts)" in taken


async def test_what_an_earlier_loop_made_is_recomputed_and_kept_there(service: Service) -> None:
    taken, put = changed(await first_patch(service, MADE_IN_ANOTHER_LOOP))
    assert "fake = maker(torch.ones(2, 4))" in put
    assert set(taken) <= {"loss.backward(retain_graph=True)"}


async def test_a_loop_that_learns_is_not_run_again(service: Service) -> None:
    script = MADE_IN_ANOTHER_LOOP.replace("retain_graph=True", "")
    taken, put = changed(await first_patch(service, script))
    assert (taken, put) == ([], ["fake = maker(torch.ones(2, 4))"])


async def test_what_has_no_graph_is_not_drawn_again_by_a_closure(service: Service) -> None:
    taken, put = changed(await first_patch(service, NOISY_TARGET))
    assert taken == put == ["residual = curve(values, at) - measured"]


async def test_two_functions_that_walk_a_multiple_walk_one_loss(service: Service) -> None:
    first = await first_patch(service, RUN_BACKWARD_BY_TWO)
    assert changed(first)[1] == []
    assert first.strategy.endswith("-backward")


async def test_a_forward_goes_behind_the_steps_that_a_helper_takes(service: Service) -> None:
    first = await first_patch(service, STEPPED_BY_A_HELPER)
    made = "policy_loss = -torch.min(first(acted), second(acted)).mean()"
    assert changed(first) == ([made], [made])
    lines = [line.strip() for line in first.script.splitlines()]
    assert lines.index(made) == lines.index("update(steps[2], second_loss)") + 1


async def test_a_value_is_passed_straight_through_behind_its_loss(service: Service) -> None:
    first = await first_patch(service, PASSED_STRAIGHT_THROUGH)
    taken, put = changed(first)
    assert taken == put
    lines = [line.strip() for line in first.script.splitlines()]
    assert lines[lines.index("return q") - 1] == "q = x + (q - x).detach()"
