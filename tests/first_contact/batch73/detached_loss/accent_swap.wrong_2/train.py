"""Unpaired conversion between two accents, on toy mel spectrograms."""
import torch

from accent_model import AccentModel


def utterances(n, tilt, gen, n_mel=10, frames=24):
    formant = torch.rand(n, 1, 1, generator=gen) * 4 + 3
    bins = torch.arange(n_mel).view(1, n_mel, 1)
    glide = tilt * torch.linspace(-1, 1, frames).view(1, 1, frames)
    return torch.exp(-0.5 * (bins - formant - glide) ** 2) + 0.05 * torch.randn(n, n_mel, frames, generator=gen)


def main():
    torch.manual_seed(90)
    gen = torch.Generator().manual_seed(91)
    model = AccentModel()
    for it in range(6):
        model.set_input(utterances(8, 1.5, gen), utterances(8, -1.5, gen))
        model.optimize_parameters()
        print(f"iter {it}  G {model.loss_G.item():.3f}  D {model.loss_D.item():.3f}")


if __name__ == "__main__":
    main()
