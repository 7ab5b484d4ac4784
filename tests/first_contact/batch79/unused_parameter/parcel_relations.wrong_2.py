"""Delays in a parcel network: one kind of edge for each way that goods can go.

A relational graph net without libraries; each relation of the schema has a transform of its own,
and relations that the schema does not know share one.
"""
import torch
from torch import nn
from torch.nn import functional as F

SCHEMA = ("hub->depot", "depot->van", "van->depot")


def slug(relation):
    """ModuleDict keys may not hold dots, and arrows make ugly names in checkpoints."""
    return relation.replace("->", "_to_")


class RelationalLayer(nn.Module):
    def __init__(self, width, schema):
        super().__init__()
        self.own = nn.Linear(width, width)
        self.shared = nn.Linear(width, width, bias=False)
        self.by_relation = nn.ModuleDict(
            {slug(relation): nn.Linear(width, width, bias=False) for relation in schema}
        )

    def transform(self, relation):
        return self.by_relation[slug(relation)]

    def forward(self, x, edges):
        total = self.own(x)
        for relation, (source, target) in edges.items():
            messages = self.transform(relation)(x[source])
            degree = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target)))
            pooled = torch.zeros_like(x).index_add(0, target, messages)
            total = total + pooled / degree.clamp(min=1).unsqueeze(1)
        return F.relu(total)


class DelayNet(nn.Module):
    def __init__(self, features, width, depth, schema):
        super().__init__()
        self.embed = nn.Linear(features, width)
        self.layers = nn.ModuleList(RelationalLayer(width, schema) for _ in range(depth))
        self.read = nn.Linear(width, 1)

    def forward(self, x, edges):
        x = self.embed(x)
        for layer in self.layers:
            x = x + layer(x, edges)
        return self.read(x).squeeze(1)


def day(generator, nodes=30):
    """Queues at the nodes, the edges of a day, and the delay an hour later."""
    x = torch.rand(nodes, 5, generator=generator)
    edges, delay = {}, x[:, 0].clone()
    for n, relation in enumerate((*SCHEMA, "detour")):
        source = torch.randint(nodes, (40,), generator=generator)
        target = torch.randint(nodes, (40,), generator=generator)
        edges[relation] = (source, target)
        effect = (0.5 - 0.4 * n) * x[source, 1 + n]
        delay.index_add_(0, target, effect)
    return x, edges, delay


def main():
    torch.manual_seed(61)
    generator = torch.Generator().manual_seed(2)
    days = [day(generator) for _ in range(12)]
    net = DelayNet(features=5, width=16, depth=2, schema=SCHEMA)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(15):
        total = 0.0
        for x, edges, delay in days:
            loss = F.mse_loss(net(x, edges), delay)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: {total / len(days):.4f}")


if __name__ == "__main__":
    main()
