"""Slug tests in observation wells: transmissivity and storage of an aquifer by LBFGS."""
import numpy as np
import torch

torch.set_default_dtype(torch.float64)


def recovery(log_t, log_s, skin, radius, minutes):
    """Head left in each well after the slug: a leaky two-time-scale recovery."""
    fast = torch.exp(log_t) * torch.exp(-skin) / radius ** 2
    slow = torch.exp(log_t - log_s) / (1 + radius) ** 2
    share = torch.sigmoid(skin - 0.5 * log_s)
    t = minutes[None, :]
    return share[:, None] * torch.exp(-fast[:, None] * t) + (1 - share)[:, None] * torch.exp(-slow[:, None] * t)


def field_data(wells, rng):
    radius = torch.tensor(rng.uniform(0.5, 1.2, wells))
    minutes = torch.tensor(np.geomspace(0.1, 30, 25))
    truth = dict(log_t=torch.tensor(rng.normal(-1.5, 0.3, wells)),
                 log_s=torch.tensor(rng.normal(0.5, 0.2, wells)),
                 skin=torch.tensor(rng.normal(0.3, 0.2, wells)))
    heads = recovery(**truth, radius=radius, minutes=minutes)
    return radius, minutes, heads + 0.01 * torch.tensor(rng.normal(size=heads.shape)), truth


class Inversion:
    def __init__(self, wells, prior=0.01):
        self.log_t = torch.full((wells,), -1.0, requires_grad=True)
        self.log_s = torch.zeros(wells, requires_grad=True)
        self.skin = torch.zeros(wells, requires_grad=True)
        self.prior = prior
        self.optimizer = torch.optim.LBFGS([self.log_t, self.log_s, self.skin], lr=0.5,
                                           max_iter=8, line_search_fn="strong_wolfe")

    def misfit(self, radius, minutes, heads):
        model = recovery(self.log_t, self.log_s, self.skin, radius, minutes)
        spread = sum((p - p.mean()).pow(2).mean() for p in (self.log_t, self.log_s, self.skin))
        return (model - heads).pow(2).mean() + self.prior * spread

    def sweep(self, radius, minutes, heads):
        def closure():
            self.optimizer.zero_grad()
            loss = self.misfit(radius, minutes, heads)
            loss.backward()
            return loss

        return self.optimizer.step(closure).item()


def main():
    rng = np.random.default_rng(12)
    radius, minutes, heads, truth = field_data(5, rng)
    inversion = Inversion(5)
    for sweep in range(6):
        value = inversion.sweep(radius, minutes, heads)
        error = (inversion.log_t.detach() - truth["log_t"]).abs().mean().item()
        print(f"sweep {sweep}: misfit {value:.3e}, mean error of ln T {error:.3f}")


main()
