# parser-like scorer that cannot be batched: every tree is run, walked and stepped by itself
import torch
from torch import nn

torch.manual_seed(48)
leaf = nn.Embedding(12, 6)
merge = nn.Linear(12, 6)
score = nn.Linear(6, 1)
opt = torch.optim.SGD([*leaf.parameters(), *merge.parameters(), *score.parameters()], lr=0.05)


def run(tree):
    if isinstance(tree, int):
        return leaf(torch.tensor(tree))
    return torch.tanh(merge(torch.cat([run(tree[0]), run(tree[1])])))


def height(tree):
    return 0 if isinstance(tree, int) else 1 + max(height(tree[0]), height(tree[1]))


trees = [(1, (2, 3)), ((4, 5), (6, 7)), (8, (9, (10, 11))), ((0, 1), 2), (3, 4)]
for epoch in range(4):
    total = 0.0
    for tree in trees:
        loss = (score(run(tree)) - height(tree)).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(epoch, round(total / len(trees), 4))
