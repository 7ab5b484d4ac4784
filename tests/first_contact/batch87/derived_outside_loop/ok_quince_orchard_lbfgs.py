"""Ripening of quinces at several orchards: shared curve by LBFGS, then offsets of each orchard by Adam.

The curve is drawn once for the second phase, where its parameters are held fixed.
"""
import torch
import torch.nn.functional as F


class Curve(torch.nn.Module):
    """Sugar over degree days: a sum of logistic steps."""

    def __init__(self, steps=3):
        super().__init__()
        self.height = torch.nn.Parameter(torch.full((steps,), 1.0))
        self.middle = torch.nn.Parameter(torch.linspace(-1.0, 1.0, steps))
        self.steep = torch.nn.Parameter(torch.zeros(steps))

    def forward(self, days):
        rise = torch.sigmoid(F.softplus(self.steep) * 4 * (days.unsqueeze(-1) - self.middle))
        return rise @ F.softplus(self.height)


def harvests(orchards, n):
    days = 4 * torch.rand(orchards, n) - 2
    late = 0.8 * torch.randn(orchards, 1)
    sugar = 2.5 * torch.sigmoid(3 * (days + 0.3)) + 0.8 * torch.sigmoid(6 * (days - 1.0)) + late
    return days, sugar + 0.05 * torch.randn_like(sugar), late.squeeze(1)


def fit_curve(curve, days, sugar, rounds=4):
    optimizer = torch.optim.LBFGS(curve.parameters(), lr=0.5, max_iter=8, line_search_fn="strong_wolfe")
    centred = sugar - sugar.mean(1, keepdim=True)

    def closure():
        optimizer.zero_grad()
        told = curve(days)
        loss = F.mse_loss(told - told.mean(1, keepdim=True), centred)
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(rounds)]
    print("curve", [round(v, 4) for v in losses])


def fit_offsets(curve, days, sugar, epochs=60):
    for p in curve.parameters():
        p.requires_grad_(False)
    told = curve(days)
    offset = torch.zeros(len(days), requires_grad=True)
    spread_log = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.Adam([offset, spread_log], lr=0.05)
    for epoch in range(epochs):
        spread = spread_log.exp()
        miss = sugar - told - offset[:, None]
        loss = (miss**2 / (2 * spread**2)).mean() + spread_log + 1e-3 * (offset**2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 19:
            print(f"offsets {epoch + 1}: {loss.item():.4f}, spread {spread.item():.3f}")
    return offset.detach()


if __name__ == "__main__":
    torch.manual_seed(44)
    days, sugar, late = harvests(5, 30)
    curve = Curve()
    fit_curve(curve, days, sugar)
    offset = fit_offsets(curve, days, sugar)
    print("correlation with the truth: %.3f" % torch.corrcoef(torch.stack([offset, late]))[0, 1].item())
