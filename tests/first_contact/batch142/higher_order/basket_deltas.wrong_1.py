"""Differential learning of a basket option: fit simulated payoffs and their pathwise deltas at once."""
# expect: pattern = higher-order
# expect: also = detached-loss
# expect: raises = nothing
# expect: carrier = slopes, delta_loss
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)

ASSETS, STRIKE, VOL, MATURITY = 3, 1.0, 0.25, 1.0


def simulate(n):
    """One path a sample; the derivative of the payoff along the path is the label of the delta."""
    spot = (0.6 + 0.8 * torch.rand(n, ASSETS)).requires_grad_()
    shock = torch.randn(n, ASSETS) * VOL * MATURITY**0.5
    basket = (spot * torch.exp(shock - 0.5 * VOL**2 * MATURITY)).mean(dim=1)
    payoff = F.relu(basket - STRIKE)
    delta, = torch.autograd.grad(payoff.sum(), spot)
    return spot.detach(), payoff.detach(), delta


class Scaler:
    def __init__(self, spot, payoff):
        self.mean, self.std = spot.mean(dim=0), spot.std(dim=0)
        self.unit = payoff.std()

    def inputs(self, spot):
        return (spot - self.mean) / self.std


def price_and_slopes(net, scaler, spot):
    spot = spot.detach().requires_grad_()
    price = net(scaler.inputs(spot)).squeeze(1) * scaler.unit
    slopes = torch.autograd.grad(price.sum(), spot, retain_graph=True)[0].requires_grad_()
    return price, slopes


spot, payoff, delta = simulate(2048)
scaler = Scaler(spot, payoff)
delta_unit = delta.pow(2).mean().sqrt()
net = nn.Sequential(nn.Linear(ASSETS, 32), nn.Softplus(), nn.Linear(32, 32), nn.Softplus(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(3):
    for idx in torch.randperm(len(spot)).split(256):
        price, slopes = price_and_slopes(net, scaler, spot[idx])
        price_loss = ((price - payoff[idx]) / scaler.unit).pow(2).mean()
        delta_loss = ((slopes - delta[idx]) / delta_unit).pow(2).mean()  # expect: place
        loss = price_loss + 2.0 * delta_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: price {price_loss.item():.4f}, delta {delta_loss.item():.4f}")
