# expect: pattern = forward-outside-loop
# expect: also = stored-graph, derived-outside-loop, undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = latents, x_train
"""Density of atmospheric soundings: an autoencoder first, then a flow on its latent space.

The density is used to flag soundings that look like instrument errors.
"""
import torch

from autoencoder import ProfileAutoencoder, fit_autoencoder
from flow import Flow


def soundings(n, levels=32):
    height = torch.linspace(0, 1, levels)
    surface = 15 + 5 * torch.randn(n, 1)
    lapse = 60 + 6 * torch.randn(n, 1)
    inversion = 3 * torch.rand(n, 1) * torch.exp(-((height - torch.rand(n, 1)) / 0.1) ** 2)
    profile = surface - lapse * height + inversion + 0.3 * torch.randn(n, levels)
    return (profile - profile.mean(0)) / profile.std(0)


def main():
    torch.manual_seed(64)
    profiles = soundings(256)

    autoencoder = ProfileAutoencoder()
    print("reconstruction", round(fit_autoencoder(autoencoder, profiles), 4))

    autoencoder.eval()
    latents = autoencoder.encode(profiles)  # expect: place
    flow = Flow(dim=latents.shape[-1])
    flow.fit(latents)  # expect: place

    with torch.no_grad():
        score = flow.log_prob(autoencoder.encode(profiles))
    suspicious = score.argsort()[:5]
    print("look at", suspicious.tolist())


if __name__ == "__main__":
    main()
