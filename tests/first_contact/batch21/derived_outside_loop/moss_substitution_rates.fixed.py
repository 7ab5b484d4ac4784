"""Branch lengths and substitution rates of five mosses from aligned DNA (Felsenstein's pruning)."""
import numpy as np
import torch
from torch import nn

#        root
#      /      \
#    5 (0,1)   6 (4, 7)      7 = (2,3)
CHILDREN = {5: (0, 1), 7: (2, 3), 6: (4, 7), 8: (5, 6)}
TIPS, NODES, ROOT = 5, 9, 8
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


class GTR(nn.Module):
    """General time reversible model: six exchange rates, four base frequencies."""

    def __init__(self):
        super().__init__()
        self.log_exchange = nn.Parameter(torch.zeros(6, dtype=torch.float64))
        self.freq_logits = nn.Parameter(torch.zeros(4, dtype=torch.float64))

    @property
    def frequencies(self):
        return self.freq_logits.softmax(0)

    @property
    def generator(self):
        q = torch.zeros(4, 4, dtype=torch.float64)
        rates = self.log_exchange.exp()
        for rate, (i, j) in zip(rates, PAIRS):
            unit = torch.zeros(4, 4, dtype=torch.float64)
            unit[i, j] = unit[j, i] = 1.0
            q = q + rate * unit
        q = q * self.frequencies
        q = q - torch.diag(q.sum(1))
        return q / -(self.frequencies * q.diagonal()).sum()

    def transition(self, lengths):
        return torch.matrix_exp(lengths[:, None, None] * self.generator)


class Tree(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.log_length = nn.Parameter(torch.full((NODES - 1,), -2.0, dtype=torch.float64))

    def forward(self, tips):
        p = self.model.transition(self.log_length.exp())
        partial = {i: tips[i] for i in range(TIPS)}
        for node, (left, right) in CHILDREN.items():
            partial[node] = (partial[left] @ p[left].T) * (partial[right] @ p[right].T)
        return (partial[ROOT] @ self.model.frequencies).log().sum()


def alignment(sites, rng):
    """Evolve along the tree with a transition-rich made-up process."""
    change = np.full((4, 4), 0.03)
    change[0, 2] = change[2, 0] = change[1, 3] = change[3, 1] = 0.12
    np.fill_diagonal(change, 0)
    np.fill_diagonal(change, 1 - change.sum(1))
    bases = {ROOT: rng.choice(4, size=sites, p=[.35, .15, .2, .3])}
    for node in (8, 6, 7, 5):
        for child in CHILDREN[node]:
            bases[child] = np.array([rng.choice(4, p=change[b]) for b in bases[node]])
    return torch.stack([torch.eye(4, dtype=torch.float64)[bases[i]] for i in range(TIPS)])


if __name__ == "__main__":
    tips = alignment(200, np.random.default_rng(8))
    tree = Tree(GTR())
    optimiser = torch.optim.Adam(tree.parameters(), lr=0.05)
    for iteration in range(25):
        optimiser.zero_grad()
        loss = -tree(tips) / tips.shape[1]
        loss.backward()
        optimiser.step()
        if iteration % 8 == 0:
            print(f"{iteration:3d}  -logL per site {loss.item():.4f}")
    with torch.no_grad():
        print("lengths", tree.log_length.exp().numpy().round(3))
        print("exchange", tree.model.log_exchange.exp().numpy().round(2))
