# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = w
# Delay spreading on a metro network, graph attention written by hand
# (no torch_geometric on the cluster).
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(60)
N_STATIONS, N_LINES, HEADS = 36, 4, 2


def build_network():
    """Lines are chains of stations that meet at random interchanges."""
    pairs = set()
    for _ in range(N_LINES):
        stops = torch.randperm(N_STATIONS)[:14].tolist()
        for a, b in zip(stops, stops[1:]):
            pairs.add((a, b))
            pairs.add((b, a))
    for s in range(N_STATIONS):
        pairs.add((s, s))
    return torch.tensor(sorted(pairs)).t()


def segment_softmax(score, dst, n):
    """Softmax over the edges that end in the same station."""
    w = torch.exp(score - score.max())
    denom = torch.zeros(n, score.size(1)).index_add(0, dst, w)
    w.data /= denom[dst] + 1e-9
    return w


class EdgeAttention(nn.Module):
    def __init__(self, d_in, d_out, heads):
        super().__init__()
        self.heads, self.d = heads, d_out
        self.lift = nn.Linear(d_in, heads * d_out, bias=False)
        self.a_src = nn.Parameter(0.3 * torch.randn(heads, d_out))
        self.a_dst = nn.Parameter(0.3 * torch.randn(heads, d_out))
        self.bias = nn.Parameter(torch.zeros(heads * d_out))

    def forward(self, x, edges):
        src, dst = edges
        h = self.lift(x).view(-1, self.heads, self.d)
        score = (h * self.a_src).sum(-1)[src] + (h * self.a_dst).sum(-1)[dst]
        alpha = segment_softmax(F.leaky_relu(score, 0.2), dst, x.size(0))
        msg = alpha[..., None] * h[src]
        out = torch.zeros(x.size(0), self.heads, self.d).index_add(0, dst, msg)
        return out.flatten(1) + self.bias


class DelayNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.g1 = EdgeAttention(3, 12, HEADS)
        self.g2 = EdgeAttention(12 * HEADS, 8, HEADS)
        self.readout = nn.Linear(8 * HEADS + 3, 1)

    def forward(self, x, edges):
        h = F.elu(self.g1(x, edges))
        h = F.elu(self.g2(h, edges))
        return self.readout(torch.cat([h, x], dim=1)).squeeze(1)


def one_morning(edges, crowd):
    """Incidents at some stations spread two hops, more where it is crowded."""
    delay = torch.relu(torch.randn(N_STATIONS) - 0.8) * 3
    x = torch.stack([delay, crowd, torch.rand(N_STATIONS)], dim=1)
    later = delay.clone()
    for _ in range(2):
        push = torch.zeros(N_STATIONS).index_add(0, edges[1], later[edges[0]])
        later = 0.5 * later + 0.2 * crowd * push
    return x, later


edges = build_network()
crowd = torch.rand(N_STATIONS) + 0.5
net = DelayNet()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)

running = None
for morning in range(80):
    x, later = one_morning(edges, crowd)
    pred = net(x, edges)
    loss = F.smooth_l1_loss(pred, later)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()
    if morning % 20 == 0 or morning == 79:
        print("morning", morning, "smooth l1", round(running, 4))
