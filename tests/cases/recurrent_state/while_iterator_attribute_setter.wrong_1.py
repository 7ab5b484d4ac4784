# A loop over an endless iterator; the state travels in a context object made on the fly.
from types import SimpleNamespace

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab=20, width=10, tags=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.fwd = nn.RNN(width, width, batch_first=True)
        self.out = nn.Linear(width, tags)

    def forward(self, words, ctx):
        h, ctx.hidden = self.fwd(self.emb(words), ctx.hidden)
        ctx.words += words.numel()
        return self.out(h)


def endless(batch=3, length=6):
    while True:
        words = torch.randint(0, 20, (batch, length))
        yield words, words % 4


torch.manual_seed(0)
model = Tagger()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
ctx = SimpleNamespace(hidden=None, words=0)
source = endless()
while ctx.words < 90:
    words, tags = next(source)
    scores = model(words, ctx)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten())
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print(ctx.words, loss.item())
