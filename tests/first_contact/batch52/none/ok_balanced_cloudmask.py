# expect: pattern = none
# expect: raises = nothing
"""Cloud mask and aerosol depth from one encoder, losses balanced by the norm of their gradients.

The norms are taken at the last shared layer; both need the graph, hence the retain_graph.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Shared(nn.Module):
    def __init__(self, bands, width):
        super().__init__()
        self.inner = nn.Conv1d(bands, width, 3, padding=1)
        self.last = nn.Conv1d(width, width, 3, padding=1)

    def forward(self, x):
        return torch.tanh(self.last(F.silu(self.inner(x))))


class Retrieval(nn.Module):
    def __init__(self, bands=8, width=12):
        super().__init__()
        self.shared = Shared(bands, width)
        self.cloud = nn.Conv1d(width, 1, 1)
        self.aerosol = nn.Sequential(nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, 1, 1), nn.Softplus())

    def forward(self, x):
        z = self.shared(x)
        return self.cloud(z).squeeze(1), self.aerosol(z).squeeze(1)


class GradientBalance:
    """weights inversely proportional to a smoothed gradient norm, summing to the number of tasks"""

    def __init__(self, layer, names, decay=0.9):
        self.parameter = layer.weight
        self.norms = {name: None for name in names}
        self.decay = decay

    def weights(self, losses):
        for name, loss in losses.items():
            (g,) = torch.autograd.grad(loss, self.parameter, retain_graph=True)
            norm, old = g.norm(), self.norms[name]
            self.norms[name] = norm if old is None else self.decay * old + (1 - self.decay) * norm
        inverse = {name: 1 / (norm + 1e-8) for name, norm in self.norms.items()}
        total = sum(inverse.values())
        return {name: len(inverse) * value / total for name, value in inverse.items()}


def swaths(n, bands=8, pixels=32):
    cloud = F.avg_pool1d(torch.randn(n, 1, pixels + 8), 9, stride=1)[:, 0] > 0.15
    aod = F.avg_pool1d(torch.rand(n, 1, pixels + 8), 9, stride=1)[:, 0]
    spectrum = torch.linspace(1.0, 0.2, bands)[None, :, None]
    x = 2.0 * cloud[:, None].float() + aod[:, None] * spectrum + 0.1 * torch.randn(n, bands, pixels)
    return x, cloud.float(), aod


def main():
    torch.manual_seed(40)
    x, cloud, aod = swaths(64)
    model = Retrieval()
    balance = GradientBalance(model.shared.last, ["cloud", "aerosol"])
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        for i in torch.randperm(len(x)).split(16):
            cloud_logit, aod_hat = model(x[i])
            losses = {
                "cloud": F.binary_cross_entropy_with_logits(cloud_logit, cloud[i]),
                "aerosol": (aod_hat - aod[i]).pow(2).mean(),
            }
            w = balance.weights(losses)
            opt.zero_grad(set_to_none=True)
            (w["cloud"] * losses["cloud"]).backward(retain_graph=True)
            (w["aerosol"] * losses["aerosol"]).backward()
            opt.step()
        print(epoch, {k: (round(v.item(), 4), round(w[k].item(), 2)) for k, v in losses.items()})


if __name__ == "__main__":
    main()
