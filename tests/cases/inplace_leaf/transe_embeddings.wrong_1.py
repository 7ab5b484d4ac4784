import torch
import torch.nn as nn
import torch.nn.functional as F


class TransE(nn.Module):
    def __init__(self, n_ent, n_rel, dim=16, margin=1.0):
        super().__init__()
        self.ent = nn.Embedding(n_ent, dim)
        self.ent.weight.requires_grad_(False)
        self.rel = nn.Embedding(n_rel, dim)
        nn.init.xavier_uniform_(self.ent.weight)
        nn.init.xavier_uniform_(self.rel.weight)
        self.margin = margin

    def renormalise(self):
        self.ent.weight.div_(self.ent.weight.norm(dim=1, keepdim=True))

    def distance(self, h, r, t):
        return (self.ent(h) + self.rel(r) - self.ent(t)).norm(p=1, dim=1)

    def forward(self, pos, neg):
        self.renormalise()
        return F.relu(self.margin + self.distance(*pos) - self.distance(*neg)).mean()


torch.manual_seed(17)
kg = TransE(n_ent=25, n_rel=4)
opt = torch.optim.SGD(kg.parameters(), lr=0.2)
for epoch in range(6):
    heads, rels = torch.randint(0, 25, (32,)), torch.randint(0, 4, (32,))
    tails = (heads + rels + 1) % 25
    corrupted = torch.randint(0, 25, (32,))
    loss = kg((heads, rels, tails), (heads, rels, corrupted))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
