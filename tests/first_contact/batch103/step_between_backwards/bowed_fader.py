# expect: pattern = step-between-backwards
# expect: also = shared-subgraph
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = guess, listener, d_opt, fool
"""Fader network on bowed-string spectra: a code that says what is played, not on which instrument.

A listener tries to name the instrument from the code; the encoder tries to leave it guessing. The
decoder is told the instrument, so that a viola can be turned into a cello afterwards.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

INSTRUMENTS = ("violin", "viola", "cello")
BINS, CODE = 48, 8

cfg = {"steps": 120, "batch": 48, "lr": 2e-3, "d_lr": 4e-3, "lambda_end": 0.4, "warmup": 60}


def spectra(n, g):
    """Harmonics of a random pitch, shaped by the body resonances of one instrument."""
    kind = torch.randint(len(INSTRUMENTS), (n,), generator=g)
    pitch = 3 + 5 * torch.rand(n, 1, generator=g)
    bins = torch.arange(BINS).float()
    comb = torch.cos(2 * math.pi * bins / pitch).clamp_min(0) ** 3
    centre = torch.tensor([30.0, 22.0, 12.0])[kind][:, None]
    body = torch.exp(-((bins - centre) / 14) ** 2)
    return comb * body + 0.03 * torch.randn(n, BINS, generator=g), kind


def mlp(*sizes, act=nn.LeakyReLU):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


encoder = decoder = listener = None  # filled by build()


def build():
    global encoder, decoder, listener
    encoder = mlp(BINS, 64, CODE)
    decoder = mlp(CODE + len(INSTRUMENTS), 64, BINS)
    listener = mlp(CODE, 32, 32, len(INSTRUMENTS))


def reconstruct(code, kind):
    return decoder(torch.cat([code, F.one_hot(kind, len(INSTRUMENTS)).float()], 1))


def strength(step):
    return cfg["lambda_end"] * min(1.0, step / cfg["warmup"])


def train(g):
    build()
    ae_opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=cfg["lr"])
    d_opt = torch.optim.Adam(listener.parameters(), lr=cfg["d_lr"])
    history = {"rec": [], "named": []}
    for step in range(cfg["steps"]):
        x, kind = spectra(cfg["batch"], g)
        code = encoder(x)
        guess = listener(code)  # expect: place

        d_loss = F.cross_entropy(guess, kind)
        d_opt.zero_grad()
        d_loss.backward(retain_graph=True)  # expect: place
        d_opt.step()  # expect: place

        rec = F.mse_loss(reconstruct(code, kind), x)
        fool = -F.cross_entropy(guess, kind)  # expect: place
        ae_loss = 50 * rec + strength(step) * fool  # expect: place
        ae_opt.zero_grad()
        ae_loss.backward()  # expect: place
        ae_opt.step()

        history["rec"].append(rec.item())
        history["named"].append((guess.argmax(1) == kind).float().mean().item())
        if step % 30 == 29:
            tail = {name: sum(values[-30:]) / 30 for name, values in history.items()}
            print(f"{step + 1:4d}  rec {tail['rec']:.4f}  instrument named {tail['named']:.2f}")
    return history


@torch.no_grad()
def swap_test(g):
    """How far a spectrum moves when its instrument is exchanged, against plain reconstruction."""
    x, kind = spectra(200, g)
    code = encoder(x)
    same = (reconstruct(code, kind) - x).square().mean()
    other = (reconstruct(code, (kind + 1) % len(INSTRUMENTS)) - x).square().mean()
    return same.item(), other.item()


if __name__ == "__main__":
    torch.manual_seed(70)
    g = torch.Generator().manual_seed(70)
    train(g)
    print("same / swapped: %.4f / %.4f" % swap_test(g))
