"""Link prediction on a random block graph with a two-layer GCN encoder and an MLP edge decoder."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader


def block_graph(n_per_block=20, blocks=4, p_in=0.35, p_out=0.02, seed=0):
    g = torch.Generator().manual_seed(seed)
    n = n_per_block * blocks
    label = torch.arange(n) // n_per_block
    prob = torch.where(label[:, None] == label[None, :], p_in, p_out)
    upper = torch.triu(torch.rand(n, n, generator=g) < prob, diagonal=1)
    edges = upper.nonzero().t()
    x = F.one_hot(label, blocks).float() + 0.8 * torch.randn(n, blocks, generator=g)
    return x, edges, n


def normalized_adjacency(edge_index, n):
    a = torch.eye(n)
    a[edge_index[0], edge_index[1]] = 1.0
    a[edge_index[1], edge_index[0]] = 1.0
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


class GCNEncoder(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.lin1 = nn.Linear(n_in, n_hidden)
        self.lin2 = nn.Linear(n_hidden, n_out)

    def forward(self, x, adj):
        h = F.relu(adj @ self.lin1(x))
        return adj @ self.lin2(h)


class EdgeDecoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, z, edge):
        return self.mlp(z[edge[0]] * z[edge[1]]).squeeze(-1)


@torch.no_grad()
def test(encoder, decoder, x, adj, pos, neg):
    z = encoder(x, adj)
    p, q = decoder(z, pos), decoder(z, neg)
    return (p[:, None] > q[None, :]).float().mean().item()


def train(encoder, decoder, optimizer, x, adj, pos_edges, n_nodes, loader):
    encoder.train()
    decoder.train()
    z = encoder(x, adj)
    total = 0.0
    epoch_loss = 0.0
    for perm in loader:
        pos = pos_edges[:, perm]
        neg = torch.randint(0, n_nodes, pos.shape)
        pos_out = decoder(z, pos)
        neg_out = decoder(z, neg)
        loss = F.binary_cross_entropy_with_logits(pos_out, torch.ones_like(pos_out))
        loss = loss + F.binary_cross_entropy_with_logits(neg_out, torch.zeros_like(neg_out))

        epoch_loss = epoch_loss + loss * perm.numel() / pos_edges.shape[1]
        total += loss.item() * perm.numel()
    optimizer.zero_grad()
    epoch_loss.backward()
    optimizer.step()
    return total / pos_edges.shape[1]


def main():
    torch.manual_seed(3)
    x, edges, n = block_graph()
    order = torch.randperm(edges.shape[1])
    cut = int(0.85 * edges.shape[1])
    train_pos, test_pos = edges[:, order[:cut]], edges[:, order[cut:]]
    test_neg = torch.randint(0, n, (2, 200))
    adj = normalized_adjacency(train_pos, n)

    encoder, decoder = GCNEncoder(x.shape[1], 32, 16), EdgeDecoder(16)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    loader = DataLoader(torch.arange(train_pos.shape[1]), batch_size=64, shuffle=True)
    for epoch in range(1, 6):
        loss = train(encoder, decoder, optimizer, x, adj, train_pos, n, loader)
        auc = test(encoder, decoder, x, adj, test_pos, test_neg)
        print(f"Epoch {epoch:02d}, loss {loss:.4f}, AUC {auc:.3f}")


if __name__ == "__main__":
    main()
