"""Parts of programs whose synthesized values have to fit one another before anything is seen."""

from __future__ import annotations

import pytest

from benchmarks.asking import Service
from tests.integration.test_harness_guesses import asked

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
CHANGED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation"
)
GRAPHLESS = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
AN_AXIS_OF_ONE = """\
each = nn.BCEWithLogitsLoss(reduction="none")
for soil, wet in loader:
    misses = each(probe(soil).squeeze(1), wet)
    for miss in misses:
        opt.zero_grad()
        miss.backward()
        opt.step()
"""
A_PART_OF_A_SEQUENCE = """\
class Trace(nn.Module):
    def __init__(self):
        super().__init__()
        self.drive = nn.Linear(30, 12)
        self.level = None

    def forward(self, x):
        now = self.drive(x)
        self.level = now if self.level is None else 0.7 * self.level + now
        return kink(self.level)

trace = Trace()
for taps, key in loader:
    score = 0
    for t in range(taps.size(1)):
        score = score + trace(taps[:, t])
    loss = F.cross_entropy(score, key)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
MORE_THAN_ONE_BATCH_OF_A_FILE = """\
widen = nn.Conv1d(3, 6, 1)
waves = widen(torch.from_numpy(np.load("waves.npy")).float())
opt = torch.optim.Adam([*judge.parameters(), *widen.parameters()])
for (wave,) in DataLoader(TensorDataset(waves), batch_size=16):
    loss = judge(wave).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CHANNELS_LAST_IN_A_FILE = """\
widen = nn.Conv1d(6, 16, kernel_size=1)
waves = widen(torch.from_numpy(np.load("waves.npy")).float().transpose(1, 2))
opt = torch.optim.Adam(judge.parameters())
for epoch in range(3):
    loss = judge(waves).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LOSSES_COPIED = """\
net = CropNet(bands=90, tasks=3)
doubt = nn.Parameter(torch.zeros(3))
opt = torch.optim.Adam([*net.parameters(), doubt])
for x, y in loader:
    parts = [F.l1_loss(p, y[:, i]) for i, p in enumerate(net(x))]
    parts = torch.tensor(parts)
    loss = (torch.exp(-doubt) * parts + doubt).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(score(net, held_out))
"""
A_SIZE_COMPUTED = """\
class Reaches(nn.Module):
    def __init__(self, gauges, c_in, c_out, hops=2):
        super().__init__()
        self.flow = nn.Parameter(torch.randn(gauges, gauges))
        self.mix = nn.Conv2d(c_in * (hops + 1), c_out, 1)
        self.powers = [torch.matrix_power(self.flow.softmax(1), n) for n in range(1, hops + 1)]

    def forward(self, x):
        seen = [x] + [torch.einsum("bcnt,nm->bcmt", x, p) for p in self.powers]
        return self.mix(torch.cat(seen, dim=1))
"""
A_SIZE_OF_ITS_OWN = """\
class Floor(nn.Module):
    def __init__(self, bands=40):
        super().__init__()
        self.rate = nn.Parameter(torch.zeros(bands))
        self.level = None

    def forward(self, e):
        level = e[:, 0] if self.level is None else self.level
        for t in range(e.size(1)):
            level = level + torch.sigmoid(self.rate) * (e[:, t] - level)
        self.level = level
        return level

for e, y in stream:
    loss = F.mse_loss(head(floor(e)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
A_CAUSAL_LAYER = """class Left(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 6, 5)
        self.gru = nn.GRU(6, 6, batch_first=True)

    def forward(self, x, h):
        x = torch.cat([x.new_zeros(x.size(0), x.size(1), 4), x], dim=2)
        return self.gru(self.conv(x).transpose(1, 2), h)

left = Left()
h = torch.zeros(1, 2, 6)
for x, y in chunks:
    out, h = left(x, h)
    loss = F.mse_loss(out[:, -1].mean(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
SUMMED_OVER_NAMED_AXES = """\
The weights are `spot = nn.Parameter(torch.randn(30, 5))`, and `mix = (spot @ spot.t()).softmax(1)`.

cell = nn.GRUCell(3, 7)
for past, future in loader:
    h = torch.zeros(past.size(0) * 30, 7)
    for t in range(past.size(1)):
        heard = torch.einsum("ij,bjc->bic", mix, past[:, t])
        h = cell(heard.reshape(past.size(0) * 30, 3), h)
    loss = F.l1_loss(readout(h).view(past.size(0), 30), future)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
A_PART_OF_CHANNELS = """\
class Gated(nn.Module):
    def __init__(self, leads=5, width=6, more=2):
        super().__init__()
        self.down, self.gate = nn.Conv1d(leads, width, 3, padding=1), nn.Conv1d(width, width, 1)
        self.head = nn.Conv1d(width + more, 4, 1)

    def forward(self, x, who):
        skip = self.down(x)
        x = F.avg_pool1d(skip, 2)
        skip *= torch.sigmoid(self.gate(F.interpolate(x, scale_factor=2.0)))
        who = who.unsqueeze(-1).expand(-1, -1, skip.size(-1))
        return self.head(torch.cat([skip, who], dim=1))
"""
A_QUEUE = """\
@torch.no_grad()
def push(queue, keys, at):
    queue[:, at : at + len(keys)] = keys.t()
    return (at + len(keys)) % queue.size(1)

queue, at = F.normalize(torch.randn(dim, n_queue), dim=0), 0
for left, right in loader:
    q = F.normalize(student(left), dim=1)
    with torch.no_grad():
        k = F.normalize(teacher(right), dim=1)
    scores = torch.cat([(q * k).sum(1, keepdim=True), q @ queue], dim=1)
    loss = F.cross_entropy(scores, torch.zeros(len(q), dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    at = push(queue, k, at)
"""
ACTIONS_OF_A_POLICY = """\
class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.gear, self.worth = nn.Linear(6, 16), nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, seen):
        h = torch.tanh(self.body(seen))
        return Categorical(logits=self.gear(h)), self.worth(h).squeeze(-1)

for _ in range(rounds):
    seen, gear, gain = fly(planes, pilot)
    dist, worth = pilot(seen)
    edge = gain - worth
    loss = -(dist.log_prob(gear) * edge).mean() + edge.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ROWS_CHOSEN_BY_LABELS = """\
for views, kinds in bees:
    scores = F.log_softmax(net(views), dim=1)
    for row, kind in enumerate(kinds):
        opt.zero_grad()
        scores[row, kind].backward()
        opt.step()
"""
A_LEAF_OF_ANOTHER_PASS = """\
slope = torch.tensor(0.5, requires_grad=True)
for turn in range(50):
    miss = (line_at(depth, slope) - seen).pow(2).mean()
    miss.backward()
    with torch.no_grad():
        slope = slope - 0.01 * slope.grad
"""
A_LOADER_OVER_WHAT_IS_NOT_SENT = """\
from dunes import Slopes
net = nn.Linear(8, 8)
opt = torch.optim.Adam(net.parameters())
loader = torch.utils.data.DataLoader(Slopes("north"), batch_size=4, shuffle=True)
state = None
for view, goal in loader:
    state = net(view) if state is None else net(view) + 0.5 * state
    loss = F.mse_loss(state, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
HANDED_TO_WHAT_IS_NOT_SENT = """\
net = CropNet(bands=90)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()])
for x, y in loader:
    code = encoded(net, x).detach() + 0 * x
    loss = F.l1_loss(head(code) + encoded(net, x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
STEP_OF_A_FUNCTION = """\
def climb(optimizer, net, x, y):
    loss = F.l1_loss(net(x), y)
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p.add_(0.01 * p.grad)
    optimizer.zero_grad()
    F.l1_loss(net(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NAMED_BY_OTHERS = """\
Somebody wrote that this must give "backward through the graph a second time", but it runs all \
night. There is no error.

for p in eye.parameters():
    p.requires_grad_(False)
wanted = [gram(f) for f in parts(eye, sample)]
picture = torch.rand(1, 3, 32, 32, requires_grad=True)
opt = torch.optim.Adam([picture])
for step in range(20):
    loss = sum(F.mse_loss(gram(f), w) for f, w in zip(parts(eye, picture), wanted))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("script", "error", "pattern", "line"),
    [
        pytest.param(AN_AXIS_OF_ONE, AGAIN, "per-sample-loop", 3, id="squeezed"),
        pytest.param(A_PART_OF_A_SEQUENCE, AGAIN, "recurrent-state", 9, id="sliced"),
        pytest.param(MORE_THAN_ONE_BATCH_OF_A_FILE, AGAIN, "forward-outside-loop", 2, id="rows"),
        pytest.param(CHANNELS_LAST_IN_A_FILE, AGAIN, "undetached-target", 2, id="turned"),
        pytest.param(A_SIZE_COMPUTED, AGAIN, "derived-outside-loop", 6, id="computed"),
        pytest.param(A_SIZE_OF_ITS_OWN, AGAIN, "recurrent-state", 11, id="own"),
        pytest.param(A_CAUSAL_LAYER, AGAIN, "recurrent-state", 14, id="padded"),
        pytest.param(SUMMED_OVER_NAMED_AXES, AGAIN, "derived-outside-loop", 1, id="named axes"),
        pytest.param(A_PART_OF_CHANNELS, CHANGED, "inplace-activation", 10, id="channels"),
        pytest.param(LOSSES_COPIED, "", "starved-parameter", 6, id="copied"),
        pytest.param(ACTIONS_OF_A_POLICY, "", "undetached-target", 13, id="actions"),
        pytest.param(ROWS_CHOSEN_BY_LABELS, AGAIN, "per-sample-loop", 2, id="chosen"),
        pytest.param(A_LEAF_OF_ANOTHER_PASS, GRAPHLESS, "leaf-rebound", 6, id="rebound"),
        pytest.param(A_LOADER_OVER_WHAT_IS_NOT_SENT, AGAIN, "recurrent-state", 7, id="loader"),
    ],
)
async def test_a_part_comes_to_its_fault(
    service: Service, script: str, error: str, pattern: str, line: int
) -> None:
    found = await asked(service, script, error)
    assert found.basis == "completed"
    assert (pattern, line) in [(c.pattern, c.location.line) for c in found.causes[:2]]


@pytest.mark.parametrize(
    "script", [HANDED_TO_WHAT_IS_NOT_SENT, STEP_OF_A_FUNCTION, NAMED_BY_OTHERS, A_QUEUE]
)
async def test_what_is_synthesized_is_not_blamed(service: Service, script: str) -> None:
    found = await asked(service, script)
    assert found.basis == "completed"
    assert found.causes == []
