# expect: pattern = none
# Three quantities of a glacier from one trunk (thickness, speed, melt). The weights of the losses
# follow GradNorm: the size of each task's gradient at the last shared layer is itself differentiated,
# and the network's own graph is walked afterwards.
import torch
import torch.nn as nn

torch.manual_seed(99)

x = torch.randn(200, 7)
targets = torch.stack([
    20 * torch.tanh(x[:, 0] + x[:, 1]),
    torch.sin(2 * x[:, 2]),
    0.1 * x[:, 3] * x[:, 4],
], dim=1)

shared = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
heads = nn.ModuleList([nn.Linear(32, 1) for _ in range(3)])
task_weights = nn.Parameter(torch.ones(3))

opt_model = torch.optim.Adam(list(shared.parameters()) + list(heads.parameters()), lr=1e-3)
opt_weights = torch.optim.Adam([task_weights], lr=2e-2)
alpha, first_losses = 0.5, None
last_shared = shared[2].weight

for it in range(25):
    idx = torch.randint(0, 200, (50,))
    z = shared(x[idx])
    losses = torch.stack([((h(z)[:, 0] - targets[idx, k]) ** 2).mean() for k, h in enumerate(heads)])
    if first_losses is None:
        first_losses = losses.detach()

    total = (task_weights.detach() * losses).sum()
    opt_model.zero_grad()
    total.backward(retain_graph=True)

    # the norms, as functions of the weights
    norms = []
    for k in range(3):
        (g,) = torch.autograd.grad(losses[k], last_shared, retain_graph=True)
        norms.append((task_weights[k] * g).norm())
    norms = torch.stack(norms)
    with torch.no_grad():
        rate = losses / first_losses
        goal = norms.mean() * (rate / rate.mean()) ** alpha
    opt_weights.zero_grad()
    (norms - goal).abs().sum().backward()

    opt_weights.step()
    opt_model.step()
    with torch.no_grad():
        task_weights *= 3 / task_weights.sum()
    if it % 8 == 0:
        print(it, [round(v, 3) for v in losses.tolist()], [round(v, 3) for v in task_weights.tolist()])
