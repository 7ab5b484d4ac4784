# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = kernel, self.kernel
"""Joint fit of a lens galaxy, its background source and the seeing of the night."""
import torch

from camera import Camera
from profiles import LensModel, SersicSource


def simulate(npix):
    """A mock cutout with known parameters, plus noise."""
    g = torch.Generator().manual_seed(3)
    with torch.no_grad():
        truth_lens = LensModel(einstein=1.1, cx=0.05, cy=-0.02)
        truth_src = SersicSource(amp=1.4, radius=0.45, sx=0.12, sy=0.08)
        cam = Camera(npix, fwhm=0.42)
        clean = cam.expose(truth_lens, truth_src)
    return clean + 0.01 * torch.randn(clean.shape, generator=g)


def chi2(model, data, sigma):
    return (((model - data) / sigma) ** 2).mean()


def fit(data, n_iter=60):
    npix = data.shape[-1]
    lens = LensModel(einstein=0.9, cx=0.0, cy=0.0)
    source = SersicSource(amp=1.0, radius=0.6, sx=0.0, sy=0.0)
    camera = Camera(npix, fwhm=0.6)

    optim = torch.optim.Adam(
        [
            {"params": lens.parameters(), "lr": 1e-2},
            {"params": source.parameters(), "lr": 1e-2},
            {"params": camera.parameters(), "lr": 5e-3},
        ]
    )
    for it in range(n_iter):
        optim.zero_grad()
        image = camera.expose(lens, source)  # expect: place
        loss = chi2(image, data, sigma=0.05)
        loss.backward()  # expect: place
        optim.step()
        if it % 20 == 0:
            print(f"{it:3d} chi2 {loss.item():8.3f}  fwhm {camera.fwhm():.3f}  theta_E {lens.einstein.item():.3f}")
    return lens, source, camera


if __name__ == "__main__":
    torch.manual_seed(11)
    cutout = simulate(32)
    fit(cutout)
