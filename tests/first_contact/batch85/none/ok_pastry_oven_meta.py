"""Every baker's oven browns in its own way: an initialisation from which a few bakes are enough.

All ovens of a batch adapt at once under vmap; one outer backward goes through all of them.
"""
import torch
from torch import nn
from torch.func import functional_call, grad, vmap


def browning_net(width=16):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def bakes(ovens, count):
    """Temperature and minutes, both scaled; browning with a bias of the oven's own."""
    x = torch.rand(ovens, 2 * count, 2) * 2 - 1
    hot = 0.5 * torch.randn(ovens, 1)
    slow = 1 + 0.3 * torch.randn(ovens, 1)
    y = torch.tanh(2 * (x[..., 0] + hot) + slow * x[..., 1])
    y = y + 0.02 * torch.randn_like(y)
    return (x[:, :count], y[:, :count]), (x[:, count:], y[:, count:])


class Meta:
    def __init__(self, net, inner_steps=3):
        self.net, self.inner_steps = net, inner_steps
        self.log_rate = nn.ParameterDict(
            {name.replace(".", "_"): nn.Parameter(torch.tensor(-2.5)) for name, _ in net.named_parameters()}
        )
        self.optimizer = torch.optim.Adam([*net.parameters(), *self.log_rate.parameters()], lr=5e-3)

    def misfit(self, weights, x, y):
        return (functional_call(self.net, weights, (x,)).squeeze(-1) - y).pow(2).mean()

    def adapt(self, weights, rates, x, y):
        for _ in range(self.inner_steps):
            slopes = grad(self.misfit)(weights, x, y)
            weights = {name: w - rates[name] * slopes[name] for name, w in weights.items()}
        return weights

    def task(self, weights, rates, support, query):
        return self.misfit(self.adapt(weights, rates, *support), *query)

    def outer_losses(self, support, query):
        weights = dict(self.net.named_parameters())
        rates = {name: self.log_rate[name.replace(".", "_")].exp() for name in weights}
        return vmap(self.task, in_dims=(None, None, 0, 0))(weights, rates, support, query)

    def train_step(self, support, query):
        loss = self.outer_losses(support, query).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(steps=40):
    torch.manual_seed(10)
    meta = Meta(browning_net())
    held_out = bakes(32, 6)
    curve = []
    for step in range(steps):
        curve.append(meta.train_step(*bakes(8, 6)))
        if step % 10 == 9:
            with torch.no_grad():
                losses = meta.outer_losses(*held_out)
            fastest = max(meta.log_rate, key=lambda name: meta.log_rate[name].item())
            print(
                f"{step + 1}: train {sum(curve[-10:]) / 10:.4f}, new ovens {losses.mean().item():.4f}"
                f" +- {losses.std().item():.4f}, fastest {fastest}"
            )


if __name__ == "__main__":
    main()
