"""Tanning drums: shrinkage temperature and shade of the hides, predicted hour by hour.

Two losses a step. Their gradients are taken one after the other so that the balance of the two
on the shared part can be watched; the drums keep turning between the steps.
"""
import torch
import torch.nn.functional as F
from torch import nn

DRUMS, HOURS, DOSES = 5, 48, 4


class Liquor(nn.Module):
    """What is dissolved in each drum, as the model believes it."""

    def __init__(self, doses, width):
        super().__init__()
        self.cell = nn.GRUCell(doses, width)
        self.register_buffer("bath", torch.zeros(DRUMS, width), persistent=False)

    def forward(self, dose):
        bath = self.cell(dose, self.bath)
        self.bath = bath.detach()
        return bath


class DrumModel(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.liquor = Liquor(DOSES, width)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.shrinkage = nn.Linear(width, 1)
        self.shade = nn.Linear(width, 3)

    def shared(self):
        return [*self.liquor.parameters(), *self.mix.parameters()]

    def forward(self, dose):
        hidden = self.mix(self.liquor(dose))
        return self.shrinkage(hidden).squeeze(-1), self.shade(hidden)


def drum_hours():
    chrome, fat = torch.zeros(DRUMS), torch.zeros(DRUMS)
    tint = torch.randn(2, 3)
    for _ in range(HOURS):
        dose = torch.rand(DRUMS, DOSES)
        chrome = 0.8 * chrome + 0.3 * dose[:, 0] - 0.1 * dose[:, 3]
        fat = 0.9 * fat + 0.2 * dose[:, 1] * dose[:, 2]
        yield dose, chrome + 0.3 * fat, torch.stack([chrome, fat], 1) @ tint


def gradient_size(parameters):
    return torch.stack([p.grad.norm() for p in parameters]).norm().item()


def hour(model, opt, dose, shrinkage, shade):
    guess_shrinkage, guess_shade = model(dose)
    loss_shrinkage = F.mse_loss(guess_shrinkage, shrinkage)
    loss_shade = F.mse_loss(guess_shade, shade)

    opt.zero_grad()
    loss_shrinkage.backward(retain_graph=True)
    alone = gradient_size(model.shared())
    (0.5 * loss_shade).backward()
    both = gradient_size(model.shared())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    opt.step()
    return loss_shrinkage.item(), loss_shade.item(), alone / both


def main():
    torch.manual_seed(1842)
    model = DrumModel()
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    best, keep = float("inf"), None
    for number, batch in enumerate(drum_hours(), 1):
        shrinkage, shade, share = hour(model, opt, *batch)
        if shrinkage + shade < best:
            best = shrinkage + shade
            keep = {name: value.clone() for name, value in model.state_dict().items()}
        if number % 8 == 0:
            print(f"{number:2d} h  shrinkage {shrinkage:.3f}  shade {shade:.3f}  share {share:.2f}")
    model.load_state_dict(keep)
    print("best", round(best, 3))


if __name__ == "__main__":
    main()
