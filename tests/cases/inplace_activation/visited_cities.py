# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = probs
"""Pointer network: masks visited cities in the logits between steps."""
import torch
import torch.nn as nn


class Pointer(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.embed = nn.Linear(2, d)
        self.cell = nn.LSTMCell(d, d)
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 1)

    def forward(self, xy):
        b, n, _ = xy.shape
        e = self.embed(xy)
        keys = self.k(e)
        h, c = e.mean(1), torch.zeros(b, e.size(-1))
        inp = e.mean(1)
        probs = torch.zeros(b, n)
        logp, tour = [], []
        visited = torch.zeros(b, n, dtype=torch.bool)
        for _ in range(n):
            h, c = self.cell(inp, (h, c))
            scores = self.v(torch.tanh(keys + self.q(h)[:, None])).squeeze(-1)
            probs = torch.softmax(scores, -1)  # expect: place
            probs[visited] = 0.0  # expect: place
            probs = probs / probs.sum(-1, keepdim=True)
            pick = torch.multinomial(probs.detach() + 1e-9, 1)
            logp.append(torch.log(probs.gather(1, pick) + 1e-9))
            visited = visited.scatter(1, pick, True)
            inp = e.gather(1, pick[..., None].expand(-1, -1, e.size(-1))).squeeze(1)
            tour.append(pick)
        return torch.cat(tour, 1), torch.cat(logp, 1).sum(1)


def length(xy, tour):
    p = xy.gather(1, tour[..., None].expand_as(xy))
    return (p - p.roll(1, 1)).norm(dim=-1).sum(1)


torch.manual_seed(0)
net = Pointer()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
baseline = None
for epoch in range(3):
    xy = torch.rand(8, 5, 2)
    tour, logp = net(xy)
    cost = length(xy, tour)
    baseline = cost.mean() if baseline is None else 0.9 * baseline + 0.1 * cost.mean()
    loss = ((cost - baseline) * logp).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, cost.mean().item())
