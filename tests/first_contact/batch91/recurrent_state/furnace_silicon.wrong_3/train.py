"""Silicon of the next cast, for the shift foreman. One update a cast, as the analyses come in."""
from types import SimpleNamespace

import torch
import torch.nn.functional as F

from casts import SIGNALS, works
from hearth import SiliconModel

cfg = SimpleNamespace(furnaces=4, casts=36, held_out=8, lr=5e-3, every=6, seed=1709)


def make_optimizer(model):
    slow = [model.hearth.inertia]
    fast = [p for name, p in model.named_parameters() if not name.endswith("inertia")]
    return torch.optim.Adam([{"params": fast}, {"params": slow, "lr": cfg.lr / 5}], lr=cfg.lr)


def learn_from(model, opt, charges, silicon):
    opt.zero_grad()
    model.hearth.blow_in(len(charges))
    guess = model(charges)
    loss = F.smooth_l1_loss(guess, silicon, beta=0.1)
    loss.backward()
    opt.step()
    return loss.item()


@torch.no_grad()
def hit_rate(model, casts, tolerance=0.1):
    """Share of casts within the tolerance; the hearths go on from where training left them."""
    hits = [(model(charges) - silicon).abs() < tolerance for charges, silicon in casts]
    return torch.stack(hits).float().mean().item()


def main():
    torch.manual_seed(cfg.seed)
    stream = list(works(cfg.furnaces, cfg.casts + cfg.held_out))
    model = SiliconModel(len(SIGNALS))
    opt = make_optimizer(model)
    model.hearth.blow_in(cfg.furnaces)
    recent = []
    for number, (charges, silicon) in enumerate(stream[: cfg.casts], 1):
        recent.append(learn_from(model, opt, charges, silicon))
        if number % cfg.every == 0:
            print(f"cast {number:3d}  loss {sum(recent) / len(recent):.4f}")
            recent.clear()
    print(f"within 0.1 % Si: {hit_rate(model, stream[cfg.casts:]):.0%}")


if __name__ == "__main__":
    main()
