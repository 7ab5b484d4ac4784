"""Product codes of shop items: the table of codes is put together once an epoch, then looked up."""
import torch
from torch import nn


class Codes(nn.Module):
    def __init__(self, items, parts, width):
        super().__init__()
        self.choice = nn.Parameter(torch.randn(items, parts))
        self.words = nn.Parameter(torch.randn(parts, width))

    def table(self):
        return self.choice.softmax(1) @ self.words


def baskets(items, size, n):
    for _ in range(n):
        first = torch.randint(0, items, (size,))
        yield first, (first + 1) % items


torch.manual_seed(22)
codes = Codes(items=18, parts=4, width=6)
optimizer = torch.optim.Adagrad(codes.parameters(), lr=0.1)
for epoch in range(2):
    for bought, next_one in baskets(18, 12, 4):
        table = codes.table()
        scores = table[bought] @ table.t()
        loss = nn.functional.cross_entropy(scores, next_one)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, round(loss.item(), 4))
