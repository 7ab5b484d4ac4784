"""Accumulates until enough tokens have been seen, whatever the lengths; the rest of an epoch is stepped too."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self, words=20, tags=4, d=10):
        super().__init__()
        self.e, self.r, self.o = nn.Embedding(words, d), nn.GRU(d, d, batch_first=True), nn.Linear(d, tags)

    def forward(self, s):
        return self.o(self.r(self.e(s))[0])


class TokenBudget:
    def __init__(self, optimizer, budget):
        self.optimizer, self.budget, self.seen = optimizer, budget, 0

    def add(self, loss_sum, tokens):
        loss_sum.backward()
        self.seen += tokens
        if self.seen >= self.budget:
            self.flush()

    def flush(self):
        if not self.seen:
            return
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                p.grad.div_(self.seen)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.seen = 0


torch.manual_seed(26)
net = Tagger()
budget = TokenBudget(torch.optim.Adam(net.parameters(), lr=1e-2), 40)
for epoch in range(2):
    total = count = 0
    for _ in range(9):
        s = torch.randint(20, (2, int(torch.randint(3, 9, (1,)))))
        loss = F.cross_entropy(net(s).flatten(0, 1), s.flatten() % 4, reduction="sum")
        budget.add(loss, s.numel())
        total += loss.item()
        count += s.numel()
    budget.flush()
    print(epoch, round(total / count, 4))
