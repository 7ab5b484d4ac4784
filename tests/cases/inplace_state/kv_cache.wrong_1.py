import math
import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, dim, max_len):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.max_len, self.dim = max_len, dim

    def start(self, batch):
        self.keys = torch.zeros(batch, self.max_len, self.dim)
        self.values = torch.zeros(batch, self.max_len, self.dim)

    def forward(self, x, t):
        self.keys.data[:, t] = self.k(x)
        self.values.data[:, t] = self.v(x)
        scores = self.q(x).unsqueeze(1) @ self.keys[:, :t + 1].transpose(1, 2) / math.sqrt(self.dim)
        return (scores.softmax(-1) @ self.values[:, :t + 1]).squeeze(1)


class Decoder(nn.Module):
    def __init__(self, vocab=11, dim=8, max_len=6):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.attn = CachedAttention(dim, max_len)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        self.attn.start(len(ids))
        steps = [self.out(self.attn(self.emb(ids[:, t]), t)) for t in range(ids.size(1))]
        return torch.stack(steps, dim=1)


torch.manual_seed(0)
model = Decoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(3):
    ids = torch.randint(0, 11, (5, 7))
    logits = model(ids[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
