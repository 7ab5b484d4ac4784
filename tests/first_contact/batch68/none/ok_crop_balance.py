# expect: pattern = none
# expect: raises = nothing
# Yield and protein of wheat plots from one network. The two losses have very different
# scales, so each is weighted by the gradient that it sends into the shared trunk.
import torch
import torch.nn as nn


class PlotNet(nn.Module):
    def __init__(self, n_bands=10):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_bands, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU())
        self.heads = nn.ModuleDict({"yield": nn.Linear(32, 1), "protein": nn.Linear(32, 1)})

    def forward(self, bands):
        shared = self.trunk(bands)
        return {k: head(shared).squeeze(1) for k, head in self.heads.items()}, shared


def season(n=64):
    bands = torch.rand(n, 10)
    vigour = (bands[:, 7] - bands[:, 3]) / (bands[:, 7] + bands[:, 3] + 0.1)
    return bands, {"yield": 6 + 3 * vigour + 0.1 * torch.randn(n),
                   "protein": 12 - 2 * vigour + bands[:, 5] + 0.1 * torch.randn(n)}


def balance(losses, shared):
    norms = {}
    for name, loss in losses.items():
        g, = torch.autograd.grad(loss, shared, retain_graph=True)
        norms[name] = g.norm()
    mean = torch.stack(list(norms.values())).mean()
    return {name: (mean / (n + 1e-8)).detach() for name, n in norms.items()}


torch.manual_seed(14)
net = PlotNet()
trunk_opt = torch.optim.Adam(net.trunk.parameters(), lr=2e-3)
head_opt = torch.optim.SGD(net.heads.parameters(), lr=1e-2)
smooth = {}
for it in range(40):
    bands, truth = season()
    pred, shared = net(bands)
    losses = {k: nn.functional.mse_loss(pred[k], truth[k]) for k in pred}
    for name, value in balance(losses, shared).items():
        smooth[name] = 0.9 * smooth.get(name, value) + 0.1 * value

    trunk_opt.zero_grad()
    head_opt.zero_grad()
    # keep the heads on the raw losses, only the trunk sees the weighted ones
    (losses["yield"] + losses["protein"]).backward(retain_graph=True, inputs=list(net.heads.parameters()))
    weighted = sum(smooth[k] * losses[k] for k in losses)
    weighted.backward(inputs=list(net.trunk.parameters()))
    trunk_opt.step()
    head_opt.step()
    if it % 10 == 0:
        print(it, {k: round(v.item(), 3) for k, v in losses.items()},
              {k: round(v.item(), 2) for k, v in smooth.items()})
