# expect: pattern = inplace-state
# expect: also = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = h
# message passing over a dag in topological order
import torch
import torch.nn as nn

torch.manual_seed(15)
EDGES = {1: [0], 2: [0, 1], 3: [1], 4: [2, 3], 5: [4, 0]}


class DagNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.msg = nn.Linear(dim, dim)
        self.upd = nn.Linear(2 * dim, dim)

    def forward(self, feats):
        h = self.msg(feats)
        for node, parents in EDGES.items():
            incoming = torch.tanh(self.msg(h[parents]).mean(0))
            h[node] = torch.tanh(self.upd(torch.cat([h[node], incoming])))
        return h


dim = 8
net = DagNet(dim)
scorer = nn.Bilinear(dim, dim, 1)
opt = torch.optim.SGD([*net.parameters(), *scorer.parameters()], lr=0.05)
for epoch in range(4):
    feats = torch.randn(6, dim)
    h = net(feats)
    score = scorer(h[-1:], h[:1]) + (h * h).sum()  # expect: place
    with torch.no_grad():
        h[0] = 0.0  # expect: place
    loss = (score - 1).pow(2).sum()
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
    print(epoch, loss.item())
