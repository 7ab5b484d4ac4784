"""Three losses of very different size, brought to one scale by their running averages."""
import torch
import torch.nn as nn
import torch.nn.functional as F

hparams = {
    "lr": 0.01,
    "beta": 0.9,
    "steps": 10,
    "weights": {"recon": 1.0, "kind": 0.5, "sparse": 0.1},
}


class LossScaler:
    def __init__(self, beta):
        self.beta = beta
        self.scale = {}

    def update(self, losses):
        for key, value in losses.items():
            if key not in self.scale:
                self.scale[key] = value.detach()
            else:
                self.scale[key] = self.beta * self.scale[key] + (1 - self.beta) * value.detach()

    def combine(self, losses, weights):
        return sum(weights[k] * losses[k] / (self.scale[k] + 1e-8) for k in losses)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(10, 12), nn.ReLU(), nn.Dropout(0.2))
        self.dec = nn.Linear(12, 10)
        self.cls = nn.Linear(12, 4)

    def forward(self, x):
        code = self.enc(x)
        return self.dec(code), self.cls(code), code


def compute(net, x, kind):
    recon, logits, code = net(x)
    return {
        "recon": F.mse_loss(recon, x, reduction="sum"),
        "kind": F.cross_entropy(logits, kind),
        "sparse": 1e-2 * code.abs().mean(),
    }


def run():
    torch.manual_seed(31)
    net, scaler = Net(), LossScaler(hparams["beta"])
    optimizer = torch.optim.Adam(net.parameters(), lr=hparams["lr"])
    for step in range(hparams["steps"]):
        kind = torch.randint(0, 4, (16,))
        x = torch.randn(16, 10) * 0.3 + F.one_hot(kind, 10)
        losses = compute(net, x, kind)
        scaler.update(losses)
        total = scaler.combine(losses, hparams["weights"])

        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        line = ", ".join("%s %.3f" % (k, v.item()) for k, v in losses.items())
        print("step %2d: %s" % (step, line))


if __name__ == "__main__":
    run()
