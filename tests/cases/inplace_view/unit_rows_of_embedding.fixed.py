"""Skip-gram with unit-length rows."""
import torch
from torch import nn, optim

torch.manual_seed(0)
VOCAB, DIM = 40, 6


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(VOCAB, DIM)
        self.context = nn.Embedding(VOCAB, DIM)

    def forward(self, c, o, neg):
        vc = self.center(c)
        pos = (vc * self.context(o)).sum(-1)
        ng = torch.bmm(self.context(neg), vc.unsqueeze(2)).squeeze(2)
        return -(torch.nn.functional.logsigmoid(pos) + torch.nn.functional.logsigmoid(-ng).sum(1)).mean()


@torch.no_grad()
def renormalise(emb):
    for row in emb.weight:
        row /= row.norm().clamp(min=1.0)


model = SkipGram()
opt = optim.Adagrad(model.parameters(), lr=0.1)
for it in range(4):
    c, o = torch.randint(VOCAB, (16,)), torch.randint(VOCAB, (16,))
    loss = model(c, o, torch.randint(VOCAB, (16, 5)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    renormalise(model.center)
    renormalise(model.context)
    print(it, loss.item())
