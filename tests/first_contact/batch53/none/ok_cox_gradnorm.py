# expect: pattern = none
# expect: raises = nothing
"""Joint survival / length-of-stay model. The two losses live on very different
scales, so each step measures both gradients on the shared layer and rescales."""
import torch
import torch.nn as nn


def cohort(n, gen):
    x = torch.randn(n, 7, generator=gen)
    rate = torch.exp(0.7 * x[:, 0] - 0.5 * x[:, 1])
    time = -torch.log(torch.rand(n, generator=gen)) / rate
    censor = torch.rand(n, generator=gen) * 3
    stay = 4 + 2 * x[:, 0] + x[:, 2]
    return x, torch.minimum(time, censor), (time <= censor).float(), stay


class JointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(7, 20)
        self.risk = nn.Linear(20, 1, bias=False)
        self.stay = nn.Linear(20, 1)

    def forward(self, x):
        z = torch.tanh(self.shared(x))
        return self.risk(z).squeeze(1), self.stay(z).squeeze(1)


def cox(score, time, event):
    order = torch.argsort(time, descending=True)
    s, e = score[order], event[order]
    return -((s - torch.logcumsumexp(s, dim=0)) * e).sum() / e.sum()


class Balancer:
    def __init__(self, weight, decay=0.8):
        self.weight, self.decay = weight, decay
        self.scale = None

    def __call__(self, losses):
        norms = []
        for loss in losses:
            g, = torch.autograd.grad(loss, self.weight, retain_graph=True)
            norms.append(g.norm())
        norms = torch.stack(norms)
        now = norms.mean() / (norms + 1e-8)
        self.scale = now if self.scale is None else self.decay * self.scale + (1 - self.decay) * now
        return sum(s * l for s, l in zip(self.scale, losses))


torch.manual_seed(8)
gen = torch.Generator().manual_seed(8)
net = JointNet()
balance = Balancer(net.shared.weight)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, time, event, stay = cohort(200, gen)
log = []
for epoch in range(15):
    for idx in torch.randperm(len(x)).split(50):
        score, los = net(x[idx])
        parts = [cox(score, time[idx], event[idx]), (los - stay[idx]).pow(2).mean()]
        opt.zero_grad()
        balance(parts).backward()
        opt.step()
        log.append([p.item() for p in parts])
    if epoch % 5 == 0 or epoch == 14:
        c, m = torch.tensor(log[-4:]).mean(0).tolist()
        print("epoch %d  cox %.3f  stay mse %.3f  scale %s" % (epoch, c, m, [round(v, 2) for v in balance.scale.tolist()]))
