"""Message passing over a batch of graphs packed into one; one target a graph."""
import torch
import torch.nn as nn


def pack(graphs):
    """graphs: list of (features, edges) -> one big graph and the owner of each node."""
    xs, es, owner, shift = [], [], [], 0
    for i, (x, e) in enumerate(graphs):
        xs.append(x)
        es.append(e + shift)
        owner.append(torch.full((len(x),), i))
        shift += len(x)
    return torch.cat(xs), torch.cat(es, 1), torch.cat(owner)


class Conv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.message = nn.Linear(2 * d, d)
        self.update = nn.GRUCell(d, d)

    def forward(self, h, edges):
        src, dst = edges
        m = torch.relu(self.message(torch.cat([h[src], h[dst]], -1)))
        pooled = torch.zeros_like(h).index_add(0, dst, m)
        return self.update(pooled, h)


class GraphNet(nn.Module):
    def __init__(self, d_in, d=16, rounds=2):
        super().__init__()
        self.embed = nn.Linear(d_in, d)
        self.convs = nn.ModuleList([Conv(d) for _ in range(rounds)])
        self.readout = nn.Linear(d, 1)

    def forward(self, x, edges, owner, n):
        h = torch.tanh(self.embed(x))
        for conv in self.convs:
            h = conv(h, edges)
        pooled = torch.zeros(n, h.size(1)).index_add(0, owner, h)
        return self.readout(pooled).squeeze(-1)


def random_graph(gen):
    n = int(torch.randint(4, 9, (1,), generator=gen))
    x = torch.rand(n, 3, generator=gen)
    e = torch.randint(0, n, (2, 2 * n), generator=gen)
    return x, e, x[:, 0].sum() - x[:, 1].prod()


def run():
    gen = torch.Generator().manual_seed(8)
    torch.manual_seed(8)
    data = [random_graph(gen) for _ in range(24)]
    net = GraphNet(3)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(3):
        running = 0.0
        for k in range(0, len(data), 6):
            part = data[k:k + 6]
            x, edges, owner = pack([g[:2] for g in part])
            out = net(x, edges, owner, len(part))
            opt.zero_grad()
            for i, (_, _, target) in enumerate(part):
                loss = (out[i] - target) ** 2 / len(part)
                running += loss.item()
            loss.backward()
            opt.step()
        print("epoch", epoch, "mse", running / 4)


run()
