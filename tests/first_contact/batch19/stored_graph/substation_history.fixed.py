"""Overload risk of substations: graph network in clusters, neighbours outside the cluster come from a history."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def ring_with_chords(nodes, chords, gen):
    src = torch.arange(nodes)
    dst = (src + 1) % nodes
    extra = torch.randint(0, nodes, (2, chords), generator=gen)
    edges = torch.cat([torch.stack([src, dst]), torch.stack([dst, src]), extra, extra.flip(0)], dim=1)
    adj = torch.zeros(nodes, nodes)
    adj[edges[0], edges[1]] = 1.0
    adj.fill_diagonal_(1.0)
    return adj / adj.sum(1, keepdim=True)


class History(nn.Module):
    """Last known hidden vector of every node."""

    def __init__(self, nodes, dim):
        super().__init__()
        self.register_buffer("emb", torch.zeros(nodes, dim))

    def pull(self, idx):
        return self.emb[idx]

    def push(self, idx, x):
        self.emb[idx] = x.detach()


class ClusterGNN(nn.Module):
    def __init__(self, nodes, in_dim, hidden, out_dim, layers=3):
        super().__init__()
        dims = [in_dim] + [hidden] * (layers - 1)
        self.lins = nn.ModuleList(nn.Linear(2 * a, hidden) for a in dims)
        self.histories = nn.ModuleList(History(nodes, hidden) for _ in range(layers - 1))
        self.out = nn.Linear(hidden, out_dim)

    def forward(self, x, adj, inside):
        outside = torch.ones(adj.size(0), dtype=torch.bool)
        outside[inside] = False
        outside = outside.nonzero().squeeze(1)
        near, far = adj[inside][:, inside], adj[inside][:, outside]
        h, h_far = x[inside], x[outside]
        for i, lin in enumerate(self.lins):
            message = near @ h + far @ h_far
            h = F.relu(lin(torch.cat([h, message], dim=1)))
            if i < len(self.histories):
                h_far = self.histories[i].pull(outside)
                self.histories[i].push(inside, h)
        return self.out(h)


def main():
    gen = torch.Generator().manual_seed(8)
    torch.manual_seed(8)
    nodes, clusters = 60, 4
    adj = ring_with_chords(nodes, 40, gen)
    x = torch.randn(nodes, 5, generator=gen)
    risk = (adj @ adj @ x)[:, :2].sum(1)
    y = (risk > risk.median()).long()

    model = ClusterGNN(nodes, 5, 16, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(5):
        losses, right = [], 0
        for inside in torch.arange(nodes).chunk(clusters):
            optimizer.zero_grad()
            logits = model(x, adj, inside)
            loss = F.cross_entropy(logits, y[inside])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            right += int((logits.argmax(1) == y[inside]).sum())
        print(f"epoch {epoch} loss {sum(losses) / clusters:.3f} acc {right / nodes:.2f}")


if __name__ == "__main__":
    main()
