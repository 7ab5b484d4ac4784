"""Which bell of a carillon rings next: a GRU on one endless stream, windows joined in pairs.

Two windows share a backward, so the state is cut only after every second of them; the state that
goes into the checkpoint is a copy of the cut one.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BELLS, WIDTH, WINDOW, STREAMS = 8, 24, 10, 6


class Carillon(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(BELLS, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.out = nn.Linear(WIDTH, BELLS)

    def forward(self, bells, state):
        h, state = self.gru(self.table(bells), state)
        return self.out(h), state


def peal(length):
    """Plain hunting with slips: the bell moves by one, and turns at the ends."""
    place = torch.randint(0, BELLS, (STREAMS,))
    way = torch.ones(STREAMS, dtype=torch.long)
    rung = []
    for _ in range(length):
        rung.append(place)
        way = torch.where((place + way < 0) | (place + way >= BELLS), -way, way)
        slip = (torch.rand(STREAMS) < 0.05).long()
        place = (place + way * (1 - slip)).clamp(0, BELLS - 1)
    return torch.stack(rung, 1)


def windows(stream):
    for start in range(0, stream.shape[1] - WINDOW, WINDOW):
        yield stream[:, start:start + WINDOW], stream[:, start + 1:start + WINDOW + 1]


def evaluate(model, stream):
    state, right, count = None, 0, 0
    model.eval()
    with torch.no_grad():
        for bells, following in windows(stream):
            logits, state = model(bells, state)
            right += (logits.argmax(-1) == following).sum().item()
            count += following.numel()
    model.train()
    return right / count


def train(model, stream, opt, checkpoint):
    state, pending, pair = None, 0.0, []
    opt.zero_grad()
    for number, (bells, following) in enumerate(windows(stream), 1):
        logits, state = model(bells, state)
        pending = pending + F.cross_entropy(logits.flatten(0, 1), following.flatten()) / 2
        if number % 2 == 0:
            pending.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
            pair.append(pending.item())
            state, pending = state.detach(), 0.0
            checkpoint["state"] = state.clone()
    return sum(pair) / len(pair)


torch.manual_seed(88)
model = Carillon()
opt = torch.optim.Adam(model.parameters(), lr=8e-3)
checkpoint = {}
for epoch in range(5):
    loss = train(model, peal(12 * WINDOW + 1), opt, checkpoint)
    print(epoch, round(loss, 3), round(evaluate(model, peal(4 * WINDOW + 1)), 2),
          round(checkpoint["state"].norm().item(), 2))
