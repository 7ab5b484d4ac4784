"""Parts of programs that reach their error in a harness, where a fix is tried."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
LOADER_OVER_WHAT_IS_NOT_SENT = """\
anchors = F.normalize(shape_net(templates), dim=-1)
for scans, kinds in DataLoader(scanned, 64):
    likeness = F.normalize(scan_net(scans), dim=-1) @ anchors.T
    loss = F.cross_entropy(likeness, kinds)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
TRAINER_WALKS_TOO = """\
class Forecast(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 8, batch_first=True)
        self.out = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        past, rain = batch
        loss = F.mse_loss(self.out(self.rnn(past)[0][:, -1]), rain)
        loss.backward()
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""
SETTINGS_ARE_NUMBERS = """\
Somebody said this would go "backward through the graph a second time", but it runs.

with torch.no_grad():
    before = actor(seen.frames).log_prob(seen.moves)
    gain = seen.gain - seen.gain.mean()
for _ in range(cfg.rounds):
    chances = actor(seen.frames)
    change = (chances.log_prob(seen.moves) - before).exp()
    loss = -(change * gain).mean() - cfg.calm * chances.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
IN_PLACE = """\
RuntimeError: one of the variables needed for gradient computation has been modified by an \
inplace operation: [torch.FloatTensor [4, 4, 8]], which is output 0 of SoftmaxBackward0"""
SEVERAL_OBJECTS_OF_ONE_CLASS = """\
class Leaky(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out)
        self.u = None

    def clear_state(self):
        self.u = None

    def forward(self, x):
        self.u = self.lin(x) if self.u is None else 0.8 * self.u + self.lin(x)
        return torch.sigmoid(self.u)

for epoch in range(n_epochs):
    for part in (first, second):
        part.clear_state()
    for sound, who in loader:
        loss = F.cross_entropy(second(first(sound)), who)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
LINE_THAT_FAILED_IN_FRONT = """\
it stops here:

    loss.backward()

class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, width)

    def forward(self, x, empty):
        w = torch.softmax(self.score(x), dim=-1)
        w *= 0.5
        out = w * x
        out[empty] = 0
        return out
"""
ROWS_CUT_TO_THEIR_LENGTHS = """\
def weigh(self, q, k, v, sizes):
    w = F.softmax(torch.einsum("nd,ntd->nt", q, k) * self.scale, dim=-1)
    for i, n in enumerate(sizes):
        w[i, n:] = 0.0
    return torch.einsum("nt,ntd->nd", w, v)
"""
LOSS_OF_A_WHOLE_BATCH = """\
def fit():
    batch = memory.sample()
    for i in range(n_updates):
        opt_a.zero_grad()
        pred = actor(batch["obs"])
        loss = ((pred - batch["act"]) ** 2).mean()
        loss.backward()
        opt_a.step()
        losses.append(loss)
    for i in range(n_updates):
        opt_c.zero_grad()
        value_loss = critic_loss(batch)
        value_loss.backward()
        opt_c.step()

losses = []
"""
FILE_OPENED_BY_WHAT_IS_NOT_HERE = """\
import h5py
import torch

class Clicks(torch.utils.data.Dataset):
    def __init__(self, path):
        with h5py.File(path, "r") as f:
            self.wave = torch.from_numpy(f["wave"][:]).float()

    def __len__(self):
        return len(self.wave)

    def __getitem__(self, i):
        return self.wave[i]

net = torch.nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
kept = torch.zeros(1)
for wave in torch.utils.data.DataLoader(Clicks("/data/clicks.h5"), batch_size=4, num_workers=2):
    kept = 0.9 * kept + net(wave).tanh().mean()
    opt.zero_grad()
    kept.backward()
    opt.step()
"""
BANK_THAT_IS_CLEARED_ELSEWHERE = """\
for batch in loader:
    with accelerator.accumulate(net):
        t = scheduler.pick(batch["pixels"].shape[0])
        noisy = scheduler.add_noise(batch["pixels"], t)
        net.set_mode("write")
        net(batch["hint"], torch.zeros_like(t))
        net.set_mode("read")
        loss = F.mse_loss(net(noisy, t), batch["noise"])
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
"""
WEIGHT_OF_AN_OWN_ENGINE_REBOUND = """\
class Scalar:
    def __init__(self, data, children=()):
        self.data, self.children, self.grad = data, children, 0.0
        self.push = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Scalar) else Scalar(other)
        out = Scalar(self.data + other.data, (self, other))
        def push():
            self.grad += out.grad
            other.grad += out.grad
        out.push = push
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Scalar) else Scalar(other)
        out = Scalar(self.data * other.data, (self, other))
        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out.push = push
        return out

    def backward(self):
        order, seen = [], set()
        def visit(one):
            if one not in seen:
                seen.add(one)
                for child in one.children:
                    visit(child)
                order.append(one)
        visit(self)
        self.grad = 1.0
        for one in reversed(order):
            one.push()

w = Scalar(0.5)
for step in range(12):
    loss = Scalar(0.0)
    for a, b in readings:
        miss = w * a + b * -1.0
        loss = loss + miss * miss
    w.grad = 0.0
    loss.backward()
    w = w + w.grad * -0.01
"""


async def asked(
    service: Service, script: str, error: str = "", files: dict[str, str] | None = None
) -> Findings:
    sent = [{"path": path, "content": text} for path, text in (files or {}).items()]
    request = DiagnosisRequest.model_validate({"script": script, "traceback": error, "files": sent})
    return await service.ask(request, RUNNING)


@pytest.mark.parametrize(
    ("script", "error", "pattern", "line"),
    [
        pytest.param(LOADER_OVER_WHAT_IS_NOT_SENT, AGAIN, "derived-outside-loop", 1, id="loader"),
        pytest.param(SEVERAL_OBJECTS_OF_ONE_CLASS, AGAIN, "recurrent-state", 11, id="objects"),
        pytest.param(LINE_THAT_FAILED_IN_FRONT, IN_PLACE, "inplace-activation", 12, id="quoted"),
        pytest.param(ROWS_CUT_TO_THEIR_LENGTHS, IN_PLACE, "inplace-state", 4, id="lengths"),
        pytest.param(LOSS_OF_A_WHOLE_BATCH, "", "growing-history", 9, id="mapping"),
        pytest.param(FILE_OPENED_BY_WHAT_IS_NOT_HERE, AGAIN, "recurrent-state", 19, id="file"),
        pytest.param(TRAINER_WALKS_TOO, AGAIN, "duplicate-backward", 11, id="trainer"),
    ],
)
async def test_a_part_comes_to_its_error_and_a_fix_is_tried(
    service: Service, script: str, error: str, pattern: str, line: int
) -> None:
    found = await asked(service, script, error)
    assert found.basis == "completed"
    assert (pattern, line) in [(c.pattern, c.location.line) for c in found.causes[:2]]
    assert found.patches[0].verification.status == "passed"


async def test_what_is_synthesized_in_each_pass_is_not_what_kept_the_graph(
    service: Service,
) -> None:
    found = await asked(service, BANK_THAT_IS_CLEARED_ELSEWHERE, AGAIN)
    assert found.causes == []
    assert found.patches == []


async def test_settings_are_numbers_in_every_world(service: Service) -> None:
    found = await asked(service, SETTINGS_ARE_NUMBERS, "")
    assert found.basis == "completed"
    assert found.causes == []


async def test_a_walk_too_deep_for_an_own_engine_is_read_from_a_run_over_synthesized_data(
    service: Service,
) -> None:
    said = "RecursionError: maximum recursion depth exceeded while calling a Python object"
    found = await asked(service, WEIGHT_OF_AN_OWN_ENGINE_REBOUND, said)
    assert found.basis == "completed"
    (first, *_) = found.causes
    assert (first.pattern, first.location.line) == ("growing-history", 45)


async def test_a_transform_that_is_not_imported_is_that_of_torch(service: Service) -> None:
    script = (
        "def cost(w, x):\n    return (w * x).sum() / w[:, 0]\n\n\n"
        "w = torch.ones(3, requires_grad=True)\n(w * w).sum().backward()\n"
        "slopes = vmap(grad(cost), (None, 0))(w, torch.randn(4, 3))\n"
    )
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert {
        "`from torch.func import grad` was added.",
        "`from torch.func import vmap` was added.",
    } < {assumed.text for assumed in found.world}
    assert "too many indices" in found.summary
