"""Pigments of a fresco from a hyperspectral scan: linear unmixing, fitted by plain gradient descent.

pixels (P x B)  ~  softmax(abundance) (P x K)  @  endmembers (K x B)
"""
import torch

torch.manual_seed(2)

BANDS = 30
PIXELS = 150
PIGMENTS = 3
STEPS = 120
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def reflectance(centre, width):
    band = torch.linspace(0, 1, BANDS)
    return 0.15 + 0.7 * torch.sigmoid((band - centre) / width)


def scan():
    pure = torch.stack([reflectance(0.35, 0.05), reflectance(0.6, 0.08), reflectance(0.8, 0.2)])
    share = torch.distributions.Dirichlet(torch.full((PIGMENTS,), 0.6)).sample((PIXELS,))
    return pure, share @ pure + 0.01 * torch.randn(PIXELS, BANDS)


def smoothness(spectra):
    bend = spectra[:, 2:] - 2 * spectra[:, 1:-1] + spectra[:, :-2]
    return bend.pow(2).mean()


def spectral_angle(a, b):
    cosine = torch.nn.functional.cosine_similarity(a[:, None], b[None], dim=-1)
    return torch.rad2deg(torch.acos(cosine.clamp(-1, 1))).min(dim=1).values.mean().item()


pure, pixels = scan()
pixels = pixels.to(device)

endmembers = torch.rand(PIGMENTS, BANDS, device=device) * 0.2 + 0.4
abundance = torch.zeros(PIXELS, PIGMENTS, requires_grad=True, device=device)

lr_spectra, lr_share = 1.0, 400.0
history = []
for step in range(STEPS):
    share = torch.softmax(abundance, dim=1)
    rebuilt = torch.einsum("pk,kb->pb", share, endmembers)
    fit = (rebuilt - pixels).pow(2).mean()
    loss = fit + 0.1 * smoothness(endmembers)
    loss.backward()

    with torch.no_grad():
        endmembers -= lr_spectra * endmembers.grad
        abundance -= lr_share * abundance.grad
        endmembers.clamp_(0.0, 1.0)
        endmembers.grad.zero_()
        abundance.grad.zero_()

    history.append(loss.item())
    if step % 30 == 0:
        angle = spectral_angle(endmembers.detach().cpu(), pure)
        print(f"{step:4d}  loss {history[-1]:.5f}  angle {angle:.2f} deg")

if history[-1] > history[0]:
    print("diverged, lower the rates")
