"""Link prediction on a synthetic citation graph with a two-layer GCN."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)


def make_graph(n_nodes=120, n_topics=4, n_features=20):
    topic = torch.randint(n_topics, (n_nodes,))
    same = (topic[:, None] == topic[None, :]).float()
    edges = torch.bernoulli(0.12 * same + 0.01 * (1 - same)).triu(1)
    adjacency = edges + edges.t()
    features = F.one_hot(topic, n_topics).float() @ torch.randn(n_topics, n_features)
    return adjacency, features + 0.8 * torch.randn(n_nodes, n_features)


def normalise(adjacency):
    with_loops = adjacency + torch.eye(len(adjacency))
    scale = with_loops.sum(1).rsqrt()
    return scale[:, None] * with_loops * scale[None, :]


class GCN(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.lin1 = nn.Linear(n_in, n_hidden)
        self.lin2 = nn.Linear(n_hidden, n_out)

    def forward(self, x, a_hat):
        h = F.relu(a_hat @ self.lin1(x))
        return a_hat @ self.lin2(h)


class EdgeScorer(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.bilinear = nn.Bilinear(n_in, n_in, 1)

    def forward(self, z, pairs):
        return self.bilinear(z[pairs[0]], z[pairs[1]]).squeeze(-1)


adjacency, x = make_graph()
a_hat = normalise(adjacency)
positive = adjacency.triu(1).nonzero().t()

encoder = GCN(x.size(1), 32, 16)
scorer = EdgeScorer(16)
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(scorer.parameters()), lr=5e-3)

z = encoder(x, a_hat)

for epoch in range(30):
    encoder.train()
    negative = torch.randint(len(x), positive.shape)
    logits = torch.cat([scorer(z, positive), scorer(z, negative)])
    labels = torch.cat([torch.ones(positive.size(1)), torch.zeros(negative.size(1))])

    loss = F.binary_cross_entropy_with_logits(logits, labels)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()

    if epoch % 10 == 0:
        accuracy = ((logits > 0).float() == labels).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy:.3f}")
