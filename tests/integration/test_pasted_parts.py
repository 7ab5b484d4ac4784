"""Parts of programs whose harness is built from the text around them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True)
class Part:
    """What somebody sends, and what is right."""

    script: str
    pattern: str
    line: int
    file: str = "train.py"
    error: str = ""
    files: dict[str, str] = field(default_factory=dict)


AGAIN = "RuntimeError: Trying to backward through the graph a second time"
IN_PLACE = """\
RuntimeError: one of the variables needed for gradient computation has been modified by an \
inplace operation: [torch.FloatTensor [8, 16]] is at version 1; expected version 0 instead."""
SCALAR = "RuntimeError: grad can be implicitly created only for scalar outputs"
DOTS = """\
my own activation, and where I use it:

class Softened(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        return grad * (1 - y * y)

...
    def forward(self, waves, silence):
        loudness = Softened.apply(self.ear(waves))
        loudness *= silence
        return self.words(loudness)
"""
METHOD = """\
    def loss_of(self, frames):
        size = frames.shape[0]
        moment = torch.randint(0, self.moments, (size,))
        guess = self.paint_net(torch.cat([frames, self.before], 1), moment)
        self.before = guess.clamp(-1, 1)
        return F.l1_loss(guess, frames)

------- the loop -------
for frames in film:
    loss = animator.loss_of(frames)
    descent.zero_grad()
    loss.backward()
    descent.step()
"""
TWO_STEPS = """\
The judge's loss explodes, the painter's follows. What is wrong with my step?

    def train_step(self, sketch, photo):
        drawn = self.painter_net(sketch)

        judged = F.mse_loss(self.judge_net(photo), self.yes)
        judged = judged + F.mse_loss(self.judge_net(drawn.detach()), self.no)
        judged.backward()
        self.opt_judge.step()

        self.opt_painter.zero_grad()
        fooled = F.mse_loss(self.judge_net(drawn), self.yes)
        fooled.backward()
        self.opt_painter.step()
"""
LOADERS = """\
from torch import nn, optim
from stations import open_stations  # of our institute
from report import Report
from rounds import rounds

known, unseen = open_stations(hours=12)
tide = nn.Sequential(nn.Flatten(), nn.Linear(24, 8), nn.Tanh(), nn.Linear(8, 1))
rounds(tide, optim.Adam(tide.parameters()), known, Report(unseen))
"""
REPORT = """\
import numpy as np

class Report:
    def __init__(self, records):
        self.records = records

    def write(self, tide):
        levels = []
        for wind, level in self.records:
            levels.append(tide(wind).numpy())
        print(np.concatenate(levels).mean())
"""
ROUNDS = """\
from torch.nn.functional import mse_loss

def rounds(tide, descent, records, report):
    for turn in range(5):
        for wind, level in records:
            loss = mse_loss(tide(wind), level)
            descent.zero_grad()
            loss.backward()
            descent.step()
        report.write(tide)
"""
CRANE = """\
import argparse
import gym
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--env", required=True)
env = gym.make(parser.parse_args().env)
seen, moved = env.observation_space.shape[0], env.action_space.shape[0]
hand, memory = nn.Linear(seen, moved), torch.zeros(moved)
descent = torch.optim.SGD(hand.parameters(), lr=0.01)
sight = env.reset()
for turn in range(20):
    memory = torch.tanh(hand(torch.as_tensor(sight, dtype=torch.float32)) + memory)
    sight, reward, done, _ = env.step(memory.detach().numpy())
    descent.zero_grad()
    memory.square().sum().backward()
    descent.step()
"""
TABBED = """\
import sys
import torch
from torch import nn

rows = [line.rstrip("\\n").split("\\t") for line in open(sys.argv[1])]
words = sorted({word for row in rows for word in row[0].split()})
table, reader = nn.Embedding(len(words), 8), nn.Linear(8, 1)
descent = torch.optim.SGD([*table.parameters(), *reader.parameters()], lr=0.1)
waiting = 0.0
for at, row in enumerate(rows, 1):
    known = table(torch.tensor([words.index(word) for word in row[0].split()]))
    waiting = waiting + (reader(known.mean(0)) - float(row[1])).abs().sum()
    if at % 4 == 0:
        descent.zero_grad()
        waiting.backward()
        descent.step()
"""
HELPER = """\
It sailed well with torch 1.4. With 2.x:

    def learn(self, memory):
        sky, sail, gain = (torch.as_tensor(x).float() for x in memory.draw(self.count))
        worth = self.critic(sky, sail)
        wish = -self.critic(sky, self.pilot(sky)).mean()
        self._walk(self.opt_critic, F.mse_loss(worth, gain))
        self._walk(self.opt_pilot, wish)

    @staticmethod
    def _walk(optim, loss):
        optim.zero_grad()
        loss.backward()
        optim.step()
"""
PATCHES = """\
for epoch in range(opt.first_epoch, opt.n_epochs):
    for i, sheet in enumerate(sheets):
        line, ink = sheet["line"].to(where), sheet["ink"].to(where)
        valid = torch.ones(line.size(0), *patch, device=where)

        opt_G.zero_grad()
        drawn = generator(line)
        loss_G = adversarial_loss(discriminator(drawn), valid)
        loss_G.backward()
        opt_G.step()

        opt_D.zero_grad()
        loss_D = adversarial_loss(discriminator(ink), valid)
        loss_D = loss_D - adversarial_loss(discriminator(drawn), valid)
        loss_D.backward()
        opt_D.step()
"""
SCALED = """\
ctc = nn.CTCLoss(reduction="none", zero_infinity=True)

def step(batch):
    sound, lengths, words, word_lengths, trust = batch
    scores = listener(sound)
    loss = trust * ctc(scores.transpose(0, 1), words, lengths, word_lengths)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
"""
BLEND = """\
    def blend(self, asks, songs, echoes):
        match = torch.einsum("bd,btd->bt", asks, songs)
        share = torch.softmax(match, -1)
        share *= echoes
        return torch.einsum("bt,btd->bd", share, songs)
"""
WARNED = """\
Which of the inputs matters? A notebook:

model.eval()
for seqs, kinds in loader:
    x = seqs.float().requires_grad_(True)
    x = x - x.mean(dim=1, keepdim=True)
    model(x)[:, kind].sum().backward()
    print((x.grad * x).sum(dim=1))

UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad
TypeError: unsupported operand type(s) for *: 'NoneType' and 'Tensor'
"""
FLAT = """\
A post that lost its indentation. First it said "a second time", now this:

for epoch in range(EPOCHS):
mood = torch.zeros((num_layers, batch_size, hidden_dim), requires_grad=False)
tone = torch.zeros((num_layers, batch_size, hidden_dim), requires_grad=False)
for batch in data_loader:
optimizer.zero_grad()
played, (mood, tone) = lstm(batch[0], mood, tone)
loss = loss_fn(played.reshape(-1, embedding_dim), batch[1])
loss.backward(retain_graph=True)
optimizer.step()
"""
PARTS = {
    "code without indentation": Part(FLAT, "step-between-backwards", 11, error=IN_PLACE),
    "a method behind dots": Part(DOTS, "inplace-activation", 18, error=IN_PLACE),
    "a method without its class": Part(METHOD, "recurrent-state", 5, error=AGAIN),
    "a step that clears one of two": Part(TWO_STEPS, "missing-zero-grad", 9),
    "loaders of another file": Part(
        LOADERS,
        "numpy-on-grad",
        10,
        file="report.py",
        error="RuntimeError: Can't call numpy() on Tensor that requires grad. "
        "Use tensor.detach().numpy() instead.",
        files={"report.py": REPORT, "rounds.py": ROUNDS},
    ),
    "an environment of the user's own": Part(CRANE, "recurrent-state", 14),
    "a table of words and numbers": Part(TABBED, "accumulated-loss", 12),
    "a helper without self": Part(HELPER, "step-between-backwards", 14, error=IN_PLACE),
    "ranges, sizes and a device": Part(PATCHES, "undetached-target", 7, error=AGAIN),
    "lengths for a loss, scaled": Part(SCALED, "non-scalar-backward", 8, error=SCALAR),
    "letters that say the sizes": Part(BLEND, "inplace-activation", 4, error=IN_PLACE),
    "a warning, and None": Part(WARNED, "nonleaf-grad", 6),
}


async def asked(service: Service, part: Part) -> Findings:
    files = [{"path": path, "content": text} for path, text in part.files.items()]
    request = DiagnosisRequest.model_validate(
        {"script": part.script, "traceback": part.error, "files": files}
    )
    return await service.ask(request, RUNNING)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS.keys())
async def test_a_part_is_completed_to_its_fault_and_fixed(service: Service, part: Part) -> None:
    found = await asked(service, part)
    assert found.causes, found.summary
    first = found.causes[0]
    assert (first.pattern, first.location.file) == (part.pattern, part.file), found.summary
    assert first.location.line == part.line
    assert found.basis == "completed"
    assert found.patches[0].verification.status == "passed"


async def test_states_that_began_alike_are_cut_alike(service: Service) -> None:
    found = await asked(service, PARTS["code without indentation"])
    added = [line[1:] for line in found.patches[0].diff.splitlines() if line.startswith("+ ")]
    assert "        mood = mood.detach()" in added
    assert "        tone = tone.detach()" in added
    assert "indentation" in {one.kind for one in found.world}
