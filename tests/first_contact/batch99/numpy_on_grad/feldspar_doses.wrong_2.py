"""Luminescence dating of feldspar: one growth curve for a profile, an equivalent dose for each aliquot.

Regenerated doses give points on a saturating exponential; the natural signal, corrected for
fading, is then read back through it. Everything is fitted together.
"""
import numpy as np
import torch

REGEN = np.array([0.0, 20.0, 50.0, 100.0, 200.0, 400.0])  # Gy
HOURS = np.array([0.5, 2.0, 10.0, 48.0, 240.0])  # delays of the fading test
TEST_DELAY = 0.5


class Profile(torch.nn.Module):
    def __init__(self, aliquots):
        super().__init__()
        self.log_d0 = torch.nn.Parameter(torch.tensor(np.log(100.0)))
        self.log_ceiling = torch.nn.Parameter(torch.zeros(aliquots, 1, dtype=torch.float64))
        self.fade = torch.nn.Parameter(torch.tensor(0.02, dtype=torch.float64))  # per decade
        self.log_de = torch.nn.Parameter(torch.full((aliquots,), np.log(80.0), dtype=torch.float64))

    def growth(self, dose):
        d0 = torch.exp(self.log_d0)
        ceiling = torch.exp(self.log_ceiling)
        return ceiling * (1 - torch.exp(-dose / d0))

    def fading(self, hours):
        return 1 - self.fade.item() * torch.from_numpy(np.log10(hours / TEST_DELAY))

    def forward(self, burial_hours):
        regen = self.growth(torch.from_numpy(REGEN).unsqueeze(0))
        natural = self.growth(torch.exp(self.log_de).unsqueeze(1)).squeeze(1)
        return regen, natural * self.fading(burial_hours), self.fading(HOURS)


def measure(aliquots, rng):
    d0, fade = 140.0, 0.035
    ceiling = rng.lognormal(0.3, 0.2, (aliquots, 1))
    de = rng.lognormal(np.log(95.0), 0.08, aliquots)
    regen = ceiling * (1 - np.exp(-REGEN / d0)) + rng.normal(0, 0.01, (aliquots, len(REGEN)))
    burial = np.full(aliquots, 30000.0 * 365 * 24)
    natural = ceiling[:, 0] * (1 - np.exp(-de / d0)) * (1 - fade * np.log10(burial / TEST_DELAY))
    natural = natural + rng.normal(0, 0.01, aliquots)
    test = 1 - fade * np.log10(HOURS / TEST_DELAY) + rng.normal(0, 0.003, len(HOURS))
    return regen, natural, test, burial, de


def chi2(seen, expected, sigma):
    return (((torch.as_tensor(seen) - expected) / sigma) ** 2).mean()


def main():
    rng = np.random.default_rng(77)
    torch.manual_seed(77)
    regen, natural, test, burial, truth = measure(12, rng)
    model = Profile(12)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    trace = []
    for it in range(150):
        optimizer.zero_grad()
        r, n, f = model(burial)
        misfit = chi2(regen, r, 0.01) + chi2(natural, n, 0.01) + chi2(test, f, 0.003)
        misfit.backward()
        optimizer.step()
        trace.append(misfit.item())
        if it % 50 == 49:
            print(f"{it + 1}: chi2 {trace[-1]:.2f}, D0 {model.log_d0.exp().item():.1f} Gy, "
                  f"g-value {100 * model.fade.item():.2f} %/decade")
    de = model.log_de.exp().detach().numpy()
    print(f"equivalent doses {de.mean():.1f} +- {de.std():.1f} Gy; off by {np.abs(de - truth).mean():.1f}")


if __name__ == "__main__":
    main()
