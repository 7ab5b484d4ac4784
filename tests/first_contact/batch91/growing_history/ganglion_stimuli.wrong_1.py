"""Most exciting stimuli: what picture does each ganglion cell of the fitted retina want to see?

The retina has been fitted elsewhere, nothing is trained here. Every climb is recorded with the
answers of the whole population, since the paper's Fig. 3 shows who else joins in on the way up.
"""
import torch
import torch.nn.functional as F
from torch import nn

SIDE, CELLS = 15, 6


class Retina(nn.Module):
    """Bipolar stage, rectification, ganglion pooling, output nonlinearity."""

    def __init__(self):
        super().__init__()
        self.bipolar = nn.Conv2d(1, 4, 5)
        self.pool = nn.Parameter(torch.zeros(CELLS, 4, SIDE - 4, SIDE - 4))
        self.gain = nn.Parameter(torch.ones(CELLS))
        self.threshold = nn.Parameter(torch.zeros(CELLS))

    def forward(self, picture):
        drive = F.softplus(self.bipolar(picture))
        summed = torch.einsum("bchw,kchw->bk", drive, self.pool)
        return F.softplus(self.gain * summed - self.threshold)


def fitted_weights(seed):
    """Stands for the checkpoint of the fit: centre-surround kernels and local pools."""
    g = torch.Generator().manual_seed(seed)
    axis = torch.arange(5.0) - 2
    r2 = axis[:, None] ** 2 + axis[None, :] ** 2
    dog = torch.exp(-r2 / 2) - 0.4 * torch.exp(-r2 / 8)
    signs = torch.tensor([1.0, -1.0, 0.5, -0.5])
    field = torch.arange(SIDE - 4.0)
    centres = torch.randint(3, SIDE - 7, (CELLS, 2), generator=g).float()
    d2 = ((field[None, :, None] - centres[:, 0, None, None]) ** 2
          + (field[None, None, :] - centres[:, 1, None, None]) ** 2)
    mix = torch.rand(CELLS, 4, 1, 1, generator=g)
    return {
        "bipolar.weight": (signs[:, None, None] * dog).unsqueeze(1),
        "bipolar.bias": torch.full((4,), -0.2),
        "pool": mix * torch.exp(-d2 / 6).unsqueeze(1),
        "gain": 0.5 + torch.rand(CELLS, generator=g),
        "threshold": torch.rand(CELLS, generator=g),
    }


def smoothness(picture):
    across = picture[..., :, 1:] - picture[..., :, :-1]
    down = picture[..., 1:, :] - picture[..., :-1, :]
    return across.pow(2).mean() + down.pow(2).mean()


def climb_to(retina, cell, steps=40, rate=0.6, contrast=3.0, weight=0.5):
    stimulus = (0.1 * torch.randn(1, 1, SIDE, SIDE)).requires_grad_()
    climb = []
    for _ in range(steps):
        goal = retina(stimulus)[0, cell].log() - weight * smoothness(stimulus)
        slope, = torch.autograd.grad(goal, stimulus)
        with torch.no_grad():
            stimulus += rate * slope / slope.norm().clamp_min(1e-8)
            stimulus *= contrast / stimulus.norm().clamp_min(contrast)
        population = retina(stimulus).squeeze(0)
        climb.append(population.clone())
    return stimulus.detach(), climb


def selectivity(final, cell):
    others = torch.cat([final[:cell], final[cell + 1 :]])
    return (final[cell] / others.mean()).item()


def main():
    torch.manual_seed(29)
    retina = Retina()
    retina.load_state_dict(fitted_weights(seed=4))
    retina.eval()
    atlas = {}
    for cell in range(CELLS):
        picture, responses = climb_to(retina, cell)
        atlas[cell] = {"picture": picture, "responses": responses}
        start, end = responses[0][cell].item(), responses[-1][cell].item()
        print(f"cell {cell}: {start:.2f} -> {end:.2f}  selectivity {selectivity(responses[-1], cell):.2f}")
    joint = [max(r.argmax().item() != cell for r in page["responses"][20:]) for cell, page in atlas.items()]
    print("cells that are outshone late in their own climb:", sum(joint))


if __name__ == "__main__":
    main()
