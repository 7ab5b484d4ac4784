import math
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x, padding_mask):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(x.size(-1))
        weights = torch.softmax(scores, dim=-1).detach()
        weights.masked_fill_(padding_mask.unsqueeze(1), 0.0)
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-8)
        return weights @ v


class Classifier(nn.Module):
    def __init__(self, vocab=30, dim=16, classes=3):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.attn = SelfAttention(dim)
        self.fc = nn.Linear(dim, classes)

    def forward(self, tokens):
        pad = tokens == 0
        h = self.attn(self.emb(tokens), pad)
        return self.fc(h.mean(1))


torch.manual_seed(13)
model = Classifier()
criterion = nn.CrossEntropyLoss()
optim = torch.optim.Adam(model.parameters(), lr=2e-3)
for it in range(4):
    tokens = torch.randint(1, 30, (6, 9))
    tokens[:, 6:] = 0
    labels = tokens[:, 0] % 3
    loss = criterion(model(tokens), labels)
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(it, "%.4f" % loss)
