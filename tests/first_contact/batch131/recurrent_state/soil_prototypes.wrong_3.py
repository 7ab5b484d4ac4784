"""Distil 600 soil spectra into a dozen prototypes that train a small regressor as well."""
import numpy as np
import torch

N_BANDS, HIDDEN, N_PROTO = 20, 16, 12


def fabricate(seed):
    rng = np.random.default_rng(seed)
    carbon = rng.gamma(2.0, 1.0, 600)
    bands = np.linspace(-1.0, 1.0, N_BANDS)
    dip = np.exp(-((bands[None, :] - 0.3) ** 2) / 0.1) * np.log1p(carbon)[:, None]
    spectra = 1.0 - 0.4 * dip + 0.05 * rng.normal(size=dip.shape)
    return torch.tensor(spectra, dtype=torch.float32), torch.tensor(carbon, dtype=torch.float32)


def fresh_weights(generator):
    shapes = {"w_in": (HIDDEN, N_BANDS), "b_in": (HIDDEN,), "w_out": (1, HIDDEN), "b_out": (1,)}
    weights = {name: 0.2 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def predict(weights, spectra):
    hidden = torch.tanh(spectra @ weights["w_in"].T + weights["b_in"])
    return (hidden @ weights["w_out"].T + weights["b_out"]).squeeze(1)


def squared_error(weights, spectra, carbon):
    return (predict(weights, spectra) - carbon).square().mean()


class Prototypes:
    def __init__(self, spectra, carbon, lr=0.02):
        self.spectra = spectra[:N_PROTO].clone().requires_grad_()
        self.carbon = carbon[:N_PROTO].clone().requires_grad_()
        self.log_step = torch.tensor(-2.5, requires_grad=True)
        self.optimizer = torch.optim.Adam([self.spectra, self.carbon, self.log_step], lr=lr)

    def train(self, weights, n_steps):
        """Run the regressor `n_steps` further on the prototypes, differentiably."""
        for _ in range(n_steps):
            error = squared_error(weights, self.spectra, self.carbon)
            slopes = torch.autograd.grad(error, list(weights.values()), retain_graph=True)
            moved = [w - self.log_step.exp() * s for w, s in zip(weights.values(), slopes)]
            weights = dict(zip(weights, moved))
        return weights

    def improve(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(n_outer=40, renew_every=10, inner_steps=4):
    generator = torch.Generator().manual_seed(21)
    spectra, carbon = fabricate(seed=6)
    prototypes = Prototypes(spectra, carbon)
    for outer in range(n_outer):
        if outer % renew_every == 0:
            weights = fresh_weights(generator)
        weights = prototypes.train(weights, inner_steps)
        rows = torch.randint(len(carbon), (128,), generator=generator)
        loss = squared_error(weights, spectra[rows], carbon[rows])
        prototypes.improve(loss)
        weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        if outer % renew_every == renew_every - 1:
            print(f"outer {outer + 1}: error on real soil {loss.item():.4f}")


if __name__ == "__main__":
    main()
