# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = adj
import torch
from torch import nn
import torch.nn.functional as F


class LearnedAdjacency(nn.Module):
    """Keeps one logit per node pair and turns them into a normalised adjacency."""

    def __init__(self, num_nodes: int):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(num_nodes, num_nodes) * 0.1)

    def forward(self):
        adj = torch.sigmoid((self.logits + self.logits.t()) / 2)  # expect: place
        adj.fill_diagonal_(1.0)  # expect: place
        deg = adj.sum(dim=1)
        inv = deg.pow(-0.5)
        return inv.view(-1, 1) * adj * inv.view(1, -1)


class GCN(nn.Module):
    def __init__(self, n, d_in, d_hid, d_out):
        super().__init__()
        self.graph = LearnedAdjacency(n)
        self.w1 = nn.Linear(d_in, d_hid)
        self.w2 = nn.Linear(d_hid, d_out)

    def forward(self, x):
        a = self.graph()
        h = F.relu(a @ self.w1(x))
        return a @ self.w2(h)


torch.manual_seed(3)
feats = torch.randn(20, 7)
labels = torch.randint(0, 4, (20,))
train_mask = torch.rand(20) < 0.6
net = GCN(20, 7, 16, 4)
optim = torch.optim.Adam(net.parameters(), 1e-2, weight_decay=5e-4)


def train_epoch():
    net.train()
    optim.zero_grad()
    out = net(feats)
    loss = F.cross_entropy(out[train_mask], labels[train_mask])
    loss.backward()
    optim.step()
    return loss.item()


for ep in range(5):
    print(ep, train_epoch())
