# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = store
import functools
import torch
from torch import nn


def cached_by_size(fn):
    store = {}  # expect: place

    @functools.wraps(fn)
    def wrapper(self, n):
        if n not in store:
            store[n] = fn(self, n)  # expect: place
        return store[n]

    return wrapper


class RelativeBias(nn.Module):
    def __init__(self, heads, span=16):
        super().__init__()
        self.table = nn.Parameter(torch.randn(2 * span - 1, heads) * 0.02)
        self.mix = nn.Linear(heads, heads)
        self.span = span

    @cached_by_size
    def matrix(self, n):
        idx = torch.arange(n)[:, None] - torch.arange(n)[None, :] + self.span - 1
        return self.mix(self.table[idx]).permute(2, 0, 1)  # expect: place


class Attn(nn.Module):
    def __init__(self, d=8, heads=2):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.bias, self.heads = RelativeBias(heads), heads

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.transpose(-1, -2) / (d / self.heads) ** 0.5 + self.bias.matrix(n)).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(b, n, d))


def fit(model, epochs):
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for e in range(epochs):
        x = torch.randn(4, 6, 8)
        loss = (model(x) - x.flip(1)).abs().mean()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
        yield e, loss.item()


torch.manual_seed(0)
for e, l in fit(Attn(), 4):
    print(e, l)
