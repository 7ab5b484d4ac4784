"""Parts of programs of which much is guessed: guesses are taken back, what holds others is asked by
its items, and a fault that needs many passes gets them."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
IN_PLACE = """\
RuntimeError: one of the variables needed for gradient computation has been modified by an \
inplace operation: [torch.FloatTensor [16, 1]], which is output 0 of AsStridedBackward0"""
PARTS_LONGER_THAN_A_FIRST_LOOK = """\
class Drift(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Parameter(torch.zeros(3))
        self.pull = nn.Linear(3, 3)

    def begin(self, boats):
        return torch.zeros(boats, 3)

    def forward(self, h, wind):
        return torch.tanh(self.pull(h) + wind.unsqueeze(-1) * self.rate.exp())

def fit(drift, opt, track, part=48):
    h = drift.begin(track.boats)
    for lo in range(0, track.n, part):
        loss = 0.0
        for k in range(lo, min(lo + part, track.n)):
            h = drift(h, track.wind[:, k])
            loss = loss + F.mse_loss(h[:, 0], track.course[:, k])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
OPTIMIZERS_BY_THEIR_NAMES = """\
def improve(self, seen):
    s, a, r = seen
    told = {}
    told["judge"] = F.mse_loss(self.parts.judge(s, a), r)
    moves, odds = self.parts.player.draw(s)
    told["player"] = (self.heat.exp() * odds - self.parts.judge(s, moves)).mean()
    told["heat"] = -(self.heat * (odds.detach() + self.wanted)).mean()
    for word in ("judge", "player", "heat"):
        self.opts[word].zero_grad()
        told[word].backward()
        self.opts[word].step()
"""
NEIGHBOURS_BY_THEIR_NUMBERS = """\
class Bonds(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = nn.Embedding(6, 4)
        self.rule = nn.Sequential(nn.Linear(9, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, kinds, places, pairs):
        places = places.detach().requires_grad_(True)
        a, b = pairs
        d = (places[a] - places[b]).norm(dim=-1, keepdim=True)
        e = self.rule(torch.cat([d, self.kind(kinds[a]), self.kind(kinds[b])], dim=-1)).sum()
        return e, -torch.autograd.grad(e, places)[0]

def learn(bonds, opt, drop):
    e, pull = bonds(drop.kinds, drop.places, drop.pairs)
    loss = (e - drop.e) ** 2 + ((pull - drop.pull) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
WORDS_BY_WHICH_IT_IS_CALLED = """\
class Board:
    def __init__(self, *lines):
        self.total = {line: 0.0 for line in lines}
        self.seen = 0

    def put(self, count, **figures):
        self.seen += count
        for line, figure in figures.items():
            self.total[line] = self.total[line] + count * figure

    def shown(self):
        return {line: float(t) / self.seen for line, t in self.total.items()}

def round_of(model, loader, opt, board):
    for i, batch in enumerate(loader):
        guess = model(batch["sky"])
        share = guess.softmax(1)
        marks = F.one_hot(batch["cloud"], share.shape[1]).movedim(-1, 1)
        over = (share * marks).sum((0, 2, 3)) / (share + marks).sum((0, 2, 3))
        loss = F.cross_entropy(guess, batch["cloud"]) - over.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        board.put(len(guess), loss=loss.detach(), overlap=over.mean())
        if i % 50 == 0:
            print(board.shown())
"""
NAMES_OF_TERMS = """\
class Evened:
    def __init__(self, names):
        self.level = {name: None for name in names}

    def __call__(self, terms):
        total = 0.0
        for name, term in terms.items():
            old = self.level[name]
            self.level[name] = term if old is None else 0.9 * old + 0.1 * term
            total = total + term / self.level[name].detach()
        return total
"""
BODY_OF_A_LOOP = """\
def slope(loss, weights):
    for w in weights:
        if w.grad is not None:
            w.grad.zero_()
    loss.backward(retain_graph=True)
    return [w.grad for w in weights]

seen = body(picture)
rain, wind = rain_loss(seen), wind_loss(seen)
if step % 20 == 0:
    weights = list(body.parameters())
    one = slope(rain, weights)
    two = slope(wind, weights)
    print(step, sum((a * b).sum() for a, b in zip(one, two)).item())
opt.zero_grad()
(rain + wind).backward()
opt.step()
"""
WEIGHTS_IN_A_DICTIONARY = """\
class Doses(nn.Module):
    def __init__(self):
        super().__init__()
        first = {"in": 1.0, "out": 3.0}
        self.usual = nn.ParameterDict({k: nn.Parameter(torch.tensor(v)) for k, v in first.items()})
        self.own = nn.Linear(4, 2)

    def forward(self, x):
        usual = torch.tensor([self.usual[k] for k in ("in", "out")])
        return (usual + self.own(x)).exp()

model = Doses()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
A_COPY_LEARNS = """\
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
for x, y, x2, y2 in tasks:
    trial = copy.deepcopy(net)
    slopes = torch.autograd.grad(F.mse_loss(trial(x), y), trial.parameters(), create_graph=True)
    for p, g in zip(trial.parameters(), slopes):
        p.data -= 0.1 * g
    loss = F.mse_loss(trial(x2), y2)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ONE_OF_A_DICTIONARY = WEIGHTS_IN_A_DICTIONARY.replace(
    """usual = torch.tensor([self.usual[k] for k in ("in", "out")])""",
    """usual = self.usual["in"]""",
)
NUMBERS_ON_THE_BOARD = WORDS_BY_WHICH_IT_IS_CALLED.replace(
    "over.mean())\n", "over.mean().item())\n"
)
ONLY_WITH_WHAT_MAY_BE_LEFT_OUT = """\
def forward(self, sites, roads, closed=None):
    pull = torch.exp(self.pull(sites))
    if closed is not None:
        pull *= closed.to(pull.dtype)
    share = pull / pull.sum(0, keepdim=True)
    return self.last(share * self.first(sites)) + roads
"""
OVERWRITTEN = """\
RuntimeError: one of the variables needed for gradient computation has been modified by an \
inplace operation: [torch.FloatTensor [4, 8]], which is output 0 of ExpBackward0"""
SOLVED_WITH_A_FACTOR = """\
class Field(nn.Module):
    def __init__(self, gauges):
        super().__init__()
        self.register_buffer("gauges", gauges)
        self.place = nn.Linear(gauges.shape[1], 3)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def likeness(self, a, b):
        return torch.exp(-(self.place(a)[:, None] - self.place(b)[None]).square().sum(-1))

    def prepare(self):
        own = self.likeness(self.gauges, self.gauges)
        self.factor = torch.linalg.cholesky(own + self.log_noise.exp() * torch.eye(len(own)))

    def forward(self, where, rain):
        return (self.likeness(where, self.gauges) @ torch.cholesky_solve(rain.t(), self.factor)).t()

field = Field(gauges)
opt = torch.optim.Adam(field.parameters(), lr=1e-2)
for season in range(5):
    field.prepare()
    for where, rain, seen in days:
        loss = F.l1_loss(field(where, rain), seen)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
NOTHING_IN_SIGHT_LEARNS = """\
for step in range(1, turns + 1):
    shares = steer(x)
    far = (shares.sum(1) - y).abs().mean()
    opt.zero_grad()
    far.backward()
    opt.step()
"""


async def asked(service: Service, script: str, error: str = "") -> Findings:
    request = DiagnosisRequest.model_validate({"script": script, "traceback": error})
    return await service.ask(request, RUNNING)


@pytest.mark.parametrize(
    ("script", "error", "pattern", "line"),
    [
        pytest.param(PARTS_LONGER_THAN_A_FIRST_LOOK, AGAIN, "recurrent-state", 18, id="parts"),
        pytest.param(OPTIMIZERS_BY_THEIR_NAMES, IN_PLACE, "step-between-backwards", 11, id="items"),
        pytest.param(NEIGHBOURS_BY_THEIR_NUMBERS, AGAIN, "grad-then-backward", 12, id="numbers"),
        pytest.param(WORDS_BY_WHICH_IT_IS_CALLED, "", "growing-history", 9, id="words"),
        pytest.param(NAMES_OF_TERMS, "", "growing-history", 9, id="terms"),
        pytest.param(BODY_OF_A_LOOP, "", "aliased-grad", 6, id="body"),
        pytest.param(WEIGHTS_IN_A_DICTIONARY, "", "starved-parameter", 9, id="dictionary"),
        pytest.param(
            ONLY_WITH_WHAT_MAY_BE_LEFT_OUT, OVERWRITTEN, "inplace-activation", 4, id="optional"
        ),
        pytest.param(SOLVED_WITH_A_FACTOR, AGAIN, "derived-outside-loop", 13, id="solved"),
        pytest.param(A_COPY_LEARNS, "", "starved-parameter", 7, id="copy"),
    ],
)
async def test_a_part_comes_to_its_fault(
    service: Service, script: str, error: str, pattern: str, line: int
) -> None:
    found = await asked(service, script, error)
    assert found.basis == "completed"
    assert (pattern, line) in [(c.pattern, c.location.line) for c in found.causes[:2]]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(ONE_OF_A_DICTIONARY, id="dictionary"),
        pytest.param(NUMBERS_ON_THE_BOARD, id="words"),
        pytest.param(NOTHING_IN_SIGHT_LEARNS, id="nothing"),
    ],
)
async def test_what_is_guessed_is_not_blamed(service: Service, script: str) -> None:
    found = await asked(service, script)
    assert found.basis == "completed"
    assert found.causes == []
