# expect: pattern = none
# expect: raises = nothing
# Joint depth and edge prediction on synthetic scenes; the task weights follow the gradient norms on the
# shared layer (GradNorm). The graph is kept for the norm computations only, one backward a step for each thing.
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, SIZE, BATCH, STEPS, ALPHA = 4, 16, 12, 60, 0.8


def scenes(n):
    """Tilted planes with one box in front: shading, depth, and the box's outline."""
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    slope = torch.randn(n, 2, 1, 1) * 0.4
    depth = 2 + slope[:, 0] * xx + slope[:, 1] * yy
    centre = torch.rand(n, 2, 1, 1) - 0.5
    inside = ((xx - centre[:, 0]).abs() < 0.4) & ((yy - centre[:, 1]).abs() < 0.4)
    depth = torch.where(inside, depth - 0.7, depth)
    edge = F.max_pool2d(inside.float().unsqueeze(1), 3, 1, 1).squeeze(1) - inside.float()
    image = torch.stack([1 / depth, inside * 0.5 + 0.1 * torch.randn_like(depth)], 1)
    return image, depth, edge


class SharedNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, width, 3, padding=1), nn.ReLU(inplace=True))
        self.shared = nn.Conv2d(width, width, 3, padding=1)
        self.depth = nn.Sequential(nn.ReLU(), nn.Conv2d(width, 1, 3, padding=1))
        self.edge = nn.Sequential(nn.ReLU(), nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, x):
        z = self.shared(self.stem(x))
        return self.depth(z).squeeze(1), self.edge(z).squeeze(1)


torch.manual_seed(SEED)
net = SharedNet()
log_w = nn.Parameter(torch.zeros(2))
opt_net = torch.optim.Adam(net.parameters(), lr=5e-3)
opt_w = torch.optim.SGD([log_w], lr=0.05)
initial = None

for step in range(STEPS):
    image, depth, edge = scenes(BATCH)
    d, e = net(image)
    losses = torch.stack([F.smooth_l1_loss(d, depth), F.binary_cross_entropy_with_logits(e, edge)])
    if initial is None:
        initial = losses.detach().clone()

    # norms of each task's gradient at the shared kernel; only the weights learn from them
    norms = []
    for loss in losses.unbind():
        g, = torch.autograd.grad(loss, net.shared.weight, retain_graph=True)
        norms.append(g.norm())
    norms = torch.stack(norms)
    weights = 2 * torch.softmax(log_w, 0)
    weighted = weights * norms
    rate = losses.detach() / initial
    goal = (weighted.mean() * (rate / rate.mean()) ** ALPHA).detach()
    balance = (weighted - goal).abs().sum()
    opt_w.zero_grad()
    balance.backward()

    opt_net.zero_grad()
    (weights.detach() * losses).sum().backward()
    opt_net.step()
    opt_w.step()

    if step % 15 == 14:
        print("step %3d  depth %.4f  edge %.4f  weights %s" % (
            step + 1, losses[0].item(), losses[1].item(), [round(w, 3) for w in weights.tolist()]))
