# expect: pattern = none
# expect: raises = nothing
"""Requests to a ferryman, read by words. The reader learns on the words and on the worst shift of
them: both gradients are kept on purpose (FGM). An elder reader, thawed only for its own evenings,
says how far the reader may drift."""
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)


class Reader(nn.Module):
    def __init__(self, words=30, width=16, ways=3):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.body = nn.Sequential(nn.Linear(width, 24), nn.GELU(), nn.Linear(24, ways))

    def forward(self, text):
        return self.body(self.words(text).mean(1))


@contextmanager
def asleep(module):
    awake = [weight for weight in module.parameters() if weight.requires_grad]
    module.requires_grad_(False)
    try:
        yield module
    finally:
        for weight in awake:
            weight.requires_grad_(True)


class WorstWords:
    def __init__(self, table, size=0.3):
        self.table, self.size = table, size

    def __enter__(self):
        slope = self.table.weight.grad
        self.kept = self.table.weight.detach().clone()
        with torch.no_grad():
            self.table.weight.add_(self.size * slope / (slope.norm() + 1e-12))

    def __exit__(self, *error):
        with torch.no_grad():
            self.table.weight.copy_(self.kept)


reader, elder = Reader(), Reader()
reader_opt = torch.optim.Adam(reader.parameters(), lr=5e-3)
elder_opt = torch.optim.Adam(elder.parameters(), lr=5e-3)
floor = torch.tensor(0.0)  # what the elder leaves unexplained: for the printed loss only
for day in range(4):
    text = torch.randint(30, (24, 6))
    way = text[:, :3].sum(1) % 3
    with asleep(elder):
        reader_opt.zero_grad()
        told = reader(text)
        drift = F.kl_div(F.log_softmax(told, 1), F.softmax(elder(text), 1), reduction="batchmean")
        loss = F.cross_entropy(told, way) + 0.5 * drift + floor
        loss.backward()
        with WorstWords(reader.words):
            F.cross_entropy(reader(text), way).backward()  # adds to the gradient of the plain words
        reader_opt.step()

    evening = torch.randint(30, (24, 6))
    own = F.cross_entropy(elder(evening), evening[:, :3].sum(1) % 3)
    elder_opt.zero_grad()
    own.backward()
    elder_opt.step()
    floor = own.detach()
    print(day, round(loss.item(), 4), round(own.item(), 4))
