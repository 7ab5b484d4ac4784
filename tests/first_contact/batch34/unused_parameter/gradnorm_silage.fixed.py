"""Near-infrared spectra of silage -> dry matter, protein, starch. Loss weights balanced by GradNorm."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(8)

N_BANDS, TASKS = 40, ["dry_matter", "protein", "starch"]
ALPHA = 0.12


class SilageNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(N_BANDS, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.heads = nn.ModuleDict({t: nn.Linear(24, 1) for t in TASKS})

    def forward(self, x):
        z = self.backbone(x)
        return {t: head(z).squeeze(1) for t, head in self.heads.items()}

    def last_shared(self):
        return self.backbone[2].weight


def make_spectra(n):
    conc = torch.rand(n, 3)
    bands = torch.linspace(0, 1, N_BANDS)
    peaks = torch.stack([torch.exp(-((bands - c) ** 2) / 0.02) for c in (0.2, 0.5, 0.75)])
    x = conc @ peaks + 0.02 * torch.randn(n, N_BANDS)
    scale = torch.tensor([30.0, 5.0, 1.0])
    return x, dict(zip(TASKS, (conc * scale).T))


model = SilageNet()
weights = nn.Parameter(torch.ones(len(TASKS)))
opt_model = optim.Adam(model.parameters(), lr=2e-3)
opt_weights = optim.Adam([weights], lr=5e-3)
mse = nn.MSELoss()

initial = None
for it in range(12):
    x, y = make_spectra(32)
    pred = model(x)
    losses = torch.stack([mse(pred[t], y[t]) for t in TASKS])
    if initial is None:
        initial = losses.detach()

    # network: ordinary step, gradients of the weights are replaced below
    opt_model.zero_grad()
    opt_weights.zero_grad()
    (weights * losses).sum().backward(retain_graph=True)

    # GradNorm: size of each task's gradient at the last shared layer
    shared = model.last_shared()
    norms = []
    for i in range(len(TASKS)):
        g = torch.autograd.grad(losses[i], shared, retain_graph=True, create_graph=True)[0]
        norms.append(torch.norm(weights[i] * g))
    norms = torch.stack(norms)

    rate = losses.detach() / initial
    rate = rate / rate.mean()
    goal = (norms.mean() * rate ** ALPHA).detach()
    balance = (norms - goal).abs().sum()
    weights.grad = torch.autograd.grad(balance, weights)[0]

    opt_model.step()
    opt_weights.step()
    with torch.no_grad():
        weights.mul_(len(TASKS) / weights.sum())

    if it % 4 == 0:
        print(it, [round(v, 3) for v in losses.tolist()], [round(v, 3) for v in weights.tolist()])
