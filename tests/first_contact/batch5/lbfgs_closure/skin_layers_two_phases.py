# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = misfit, loss, predicted
"""Heat through layered skin: conductivities by Adam first, then L-BFGS; a smoothness term is checked in between."""
import torch

LAYERS, DEPTH = 4, 20


class Skin:
    def __init__(self):
        self.raw = torch.zeros(LAYERS, requires_grad=True)
        self.loss_scale = torch.zeros(1, requires_grad=True)

    def conductivity(self):
        return 0.2 + torch.nn.functional.softplus(self.raw)

    def temperatures(self, flux):
        r = (1.0 / self.conductivity()).repeat_interleave(DEPTH // LAYERS)
        drop = torch.cumsum(r, 0)[None] * flux[:, None] * torch.exp(self.loss_scale)
        return 37.0 - drop / DEPTH


def objective(skin, flux, seen):
    rough = skin.raw.diff().pow(2).sum()
    return (skin.temperatures(flux) - seen).pow(2).mean() + 1e-3 * rough


def adam_phase(skin, flux, seen, n=15):
    opt = torch.optim.Adam([skin.raw, skin.loss_scale], lr=0.05)
    for _ in range(n):
        opt.zero_grad()
        loss = objective(skin, flux, seen)
        loss.backward()
        opt.step()
    return loss.item()


def lbfgs_phase(skin, flux, seen, rounds=3):
    opt = torch.optim.LBFGS([skin.raw, skin.loss_scale], lr=0.5, max_iter=5)
    for _ in range(rounds):
        misfit = objective(skin, flux, seen)  # expect: place

        def closure():
            opt.zero_grad()
            misfit.backward()  # expect: place
            return misfit

        last = opt.step(closure)
    return float(last)


torch.manual_seed(1)
truth = Skin()
with torch.no_grad():
    truth.raw.copy_(torch.tensor([0.5, -1.0, 0.3, 1.2]))
    flux = torch.linspace(1, 5, 12)
    seen = truth.temperatures(flux) + 0.01 * torch.randn(12, DEPTH)
skin = Skin()
print("after Adam", round(adam_phase(skin, flux, seen), 5))
print("after L-BFGS", round(lbfgs_phase(skin, flux, seen), 5))
