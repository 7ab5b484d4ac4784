# expect: pattern = none
# Segment recurrence with a memory that is cut where it is stored.
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, memory):
        context = x if memory is None else torch.cat([memory, x], dim=1)
        x = x + self.attn(x, context, context, need_weights=False)[0]
        return x + self.ff(x)


class XL(nn.Module):
    def __init__(self, vocab=12, d=8, depth=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(depth))
        self.out = nn.Linear(d, vocab)

    def forward(self, ids, mems):
        x, kept = self.emb(ids), []
        for layer, memory in zip(self.layers, mems or [None] * len(self.layers)):
            kept.append(x.detach())
            x = layer(x, memory)
        return self.out(x), kept


torch.manual_seed(0)
model, mems = XL(), None
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for segment in torch.randint(0, 12, (2, 30)).split(6, dim=1):
    logits, mems = model(segment[:, :-1], mems)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), segment[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
