# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = _prop, prop
import torch
import torch.nn as nn
import torch.nn.functional as F


def ring_with_shortcuts(n, extra, gen):
    """Undirected edge list: a ring road plus a few shortcuts."""
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    cut = torch.randint(0, n, (2, extra), generator=gen)
    return torch.cat([ring, cut[:, cut[0] != cut[1]]], dim=1)


class WeightedAPPNP(nn.Module):
    """Predict, then propagate. Every road has its own learnable conductance."""

    def __init__(self, n_nodes, edges, d_in, d_hid, n_cls, hops=4, alpha=0.15):
        super().__init__()
        self.n_nodes, self.hops, self.alpha = n_nodes, hops, alpha
        self.register_buffer("edges", edges)
        self.conductance = nn.Parameter(torch.zeros(edges.shape[1]))
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, n_cls)
        self._prop = None

    def propagation_matrix(self):
        # the graph is fixed, no need to normalise it again in every forward
        if self._prop is None:  # expect: place
            w = F.softplus(self.conductance)  # expect: place
            src, dst = self.edges
            adj = torch.eye(self.n_nodes)
            adj = adj.index_put((src, dst), w, accumulate=True)
            adj = adj.index_put((dst, src), w, accumulate=True)
            inv_sqrt = adj.sum(dim=1).rsqrt()
            self._prop = inv_sqrt[:, None] * adj * inv_sqrt[None, :]  # expect: place
        return self._prop  # expect: place

    def forward(self, x):
        prop = self.propagation_matrix()  # expect: place
        h0 = self.lin2(F.dropout(F.relu(self.lin1(x)), 0.3, self.training))
        h = h0
        for _ in range(self.hops):
            h = (1 - self.alpha) * prop @ h + self.alpha * h0  # expect: place
        return h


def accuracy(model, x, y, mask):
    model.eval()
    with torch.no_grad():
        hit = (model(x).argmax(dim=1) == y)[mask].float().mean().item()
    model.train()
    return hit


def run(epochs=20):
    gen = torch.Generator().manual_seed(11)
    torch.manual_seed(11)
    n = 60
    edges = ring_with_shortcuts(n, 12, gen)
    y = torch.arange(n) * 3 // n
    x = F.one_hot(y, 3).float() + 1.2 * torch.randn(n, 3)
    x = torch.cat([x, torch.randn(n, 5)], dim=1)
    train_mask = torch.rand(n) < 0.4

    model = WeightedAPPNP(n, edges, x.shape[1], 16, 3)
    optimizer = torch.optim.Adam([
        {"params": [model.conductance], "lr": 5e-2},
        {"params": list(model.lin1.parameters()) + list(model.lin2.parameters()), "weight_decay": 5e-4},
    ], lr=1e-2)

    for epoch in range(1, epochs + 1):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x)[train_mask], y[train_mask])
        loss.backward()  # expect: place
        optimizer.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch:3d}  loss {loss.item():.4f}")

    print("held out", accuracy(model, x, y, ~train_mask))


if __name__ == "__main__":
    run()
