# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = fractions
# Integrated spectra of star clusters are mixtures of a few stellar populations.
# We look for the population templates and the light fractions of each cluster,
# turn and turn about: some steps on the fractions, some on the templates.
import numpy as np
import torch

rng = np.random.default_rng(8)
torch.manual_seed(8)

N_CLUSTERS, N_POP, N_WAVE = 40, 4, 90
OUTER, INNER = 20, 8


def fake_survey():
    wave = np.linspace(0.38, 0.72, N_WAVE)
    continuum = np.stack([np.exp(-a * (wave - 0.38)) for a in (0.2, 1.5, 3.0, -0.8)])
    lines = np.ones_like(continuum)
    for row in lines:
        for centre in rng.choice(wave, size=6, replace=False):
            row *= 1.0 - rng.uniform(0.1, 0.5) * np.exp(-((wave - centre) / 0.006) ** 2)
    light = rng.dirichlet(np.full(N_POP, 0.6), size=N_CLUSTERS)
    flux = light @ (continuum * lines)
    flux = flux + 0.01 * rng.standard_normal(flux.shape)
    return torch.as_tensor(flux, dtype=torch.float32)


class Unmixer(torch.nn.Module):
    def __init__(self, flux):
        super().__init__()
        start = torch.rand(N_CLUSTERS, N_POP)
        self.fractions = torch.nn.Parameter(start / start.sum(1, keepdim=True))
        pick = torch.randperm(N_CLUSTERS)[:N_POP]
        self.templates = torch.nn.Parameter(flux[pick].clone())

    def forward(self):
        return self.fractions @ self.templates

    @torch.no_grad()
    def keep_physical(self):
        """There is no negative light, in the mixtures or in the templates."""
        self.fractions.clamp_(min=0.0)  # expect: place
        self.templates.clamp_(min=0.0)


def roughness(templates):
    second = templates[:, 2:] - 2 * templates[:, 1:-1] + templates[:, :-2]
    return second.pow(2).mean()


def misfit(model, flux):
    return (model() - flux).pow(2).mean() + 1e-3 * roughness(model.templates)


flux = fake_survey()
model = Unmixer(flux)
opt_fractions = torch.optim.Adam([model.fractions], lr=0.02)
opt_templates = torch.optim.Adam([model.templates], lr=0.02)

for outer in range(OUTER):
    for _ in range(INNER):                      # fractions, templates held
        opt_fractions.zero_grad()
        loss = misfit(model, flux)
        loss.backward()
        opt_fractions.step()
        model.keep_physical()
    for _ in range(INNER):                      # templates, fractions held
        opt_templates.zero_grad()
        loss = misfit(model, flux)
        loss.backward()
        opt_templates.step()
        model.keep_physical()
    print("round", outer, "objective %.5f" % loss.item())

light = model.fractions.detach()
light = (light / light.sum(1, keepdim=True)).numpy()
print("mean light per population:", light.mean(axis=0).round(3))
