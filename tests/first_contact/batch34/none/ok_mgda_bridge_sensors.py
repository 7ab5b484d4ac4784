# expect: pattern = none
# Two losses on one trunk (strain of a bridge deck, temperature); min-norm weights (MGDA) from the gradients at
# the shared representation, then one step of everything. Both graphs are walked more than once, on purpose.
import torch
import torch.nn as nn

torch.manual_seed(31)
trunk = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 16), nn.Tanh())
heads = nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 1)])
params = list(trunk.parameters()) + list(heads.parameters())
opt = torch.optim.RMSprop(params, lr=2e-3)


def min_norm(g1, g2):
    diff = g1 - g2
    alpha = -(g2 * diff).sum() / diff.pow(2).sum().clamp_min(1e-12)
    return alpha.clamp(0, 1)


history = {"strain": [], "temperature": [], "alpha": []}
weights_of = []
for it in range(24):
    x = torch.randn(40, 10)
    strain = (x[:, :3].sum(1) * x[:, 3]).unsqueeze(1)
    temperature = (x[:, 4:].mean(1) + 0.1 * torch.randn(40)).unsqueeze(1)

    z = trunk(x)
    losses = [nn.functional.mse_loss(h(z), y) for h, y in zip(heads, (strain, temperature))]
    grads = [torch.autograd.grad(l, z, retain_graph=True)[0].flatten() for l in losses]
    alpha = min_norm(*grads)

    total = alpha * losses[0] + (1 - alpha) * losses[1]
    opt.zero_grad()
    total.backward()
    opt.step()

    history["strain"].append(losses[0].item())
    history["temperature"].append(losses[1].item())
    history["alpha"].append(alpha)
    weights_of.append([p.detach().norm() for p in params])

print({k: round(float(torch.tensor(v[-5:]).mean()), 4) for k, v in history.items()})
