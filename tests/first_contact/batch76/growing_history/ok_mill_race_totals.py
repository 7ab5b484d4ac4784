# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class FlowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, seq):
        h = seq.new_zeros(seq.size(0), 12)
        steps = []
        for t in range(seq.size(1)):
            h = self.cell(seq[:, t], h)
            steps.append(self.out(h))
        return torch.stack(steps, dim=1).squeeze(-1)


class Totals:
    def __init__(self):
        self.sums, self.n = {}, 0

    def add(self, size, **values):
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0) + value * size
        self.n += size

    def means(self):
        return {name: float(s / self.n) for name, s in self.sums.items()}


@torch.no_grad()
def evaluate(model, x, y):
    totals = Totals()
    for xb, yb in zip(x.split(10), y.split(10)):
        err = model(xb) - yb
        totals.add(len(xb), mse=err.pow(2).mean(), mae=err.abs().mean())
    return totals.means()


def fit():
    torch.manual_seed(23)
    x = torch.randn(60, 8, 2)
    y = x[..., 0].cumsum(1) * 0.3
    model = FlowNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    curve = []
    for epoch in range(4):
        totals = Totals()
        for idx in torch.randperm(40).split(10):
            loss = 0
            pred = model(x[idx])
            for t in range(pred.size(1)):
                loss += nn.functional.mse_loss(pred[:, t], y[idx, t])
            optimizer.zero_grad()
            loss.backward()
            grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            totals.add(len(idx), loss=loss.detach(), grad_norm=grad_norm)
        curve.append({**totals.means(), **evaluate(model, x[40:], y[40:])})
        print(epoch, {k: round(v, 4) for k, v in curve[-1].items()})


if __name__ == "__main__":
    fit()
