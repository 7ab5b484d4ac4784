# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = weight, endmembers, decoder
# Unmixing canopy reflectance: each pixel of a drone image over a vineyard is a blend of a few
# materials (leaf, bare soil, dry straw, shadow).  The spectra of the materials are the decoder's
# weights and must stay positive, hence the parametrization.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize

CFG = {
    "bands": 20,
    "materials": 4,
    "pixels": 320,
    "batch": 64,
    "epochs": 4,
    "lr": 2e-2,
    "smooth": 0.05,
    "seed": 3,
}


class Positive(nn.Module):
    def forward(self, raw):
        return F.softplus(raw)

    def right_inverse(self, value):
        return value.clamp_min(1e-3).expm1().log()


class Unmixer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(cfg["bands"], 32), nn.ReLU(), nn.Linear(32, cfg["materials"])
        )
        self.decoder = nn.Linear(cfg["materials"], cfg["bands"], bias=False)
        with torch.no_grad():
            self.decoder.weight.uniform_(0.2, 0.6)
        parametrize.register_parametrization(self.decoder, "weight", Positive())
        self.gain = nn.Parameter(torch.ones(cfg["bands"]))

    def endmembers(self):
        return self.decoder.weight.t()  # expect: place

    def forward(self, pixels):
        abundance = self.encoder(pixels).softmax(dim=-1)
        return self.gain * self.decoder(abundance), abundance


def roughness(spectra):
    """Neighbouring bands of one material should not jump."""
    return (spectra[:, 1:] - spectra[:, :-1]).pow(2).mean()


def make_field(cfg):
    grid = torch.linspace(0, 1, cfg["bands"])
    spectra = torch.stack([
        0.1 + 0.5 * torch.sigmoid(20 * (grid - 0.6)),   # leaf, red edge
        0.2 + 0.3 * grid,                                # soil
        0.35 + 0.2 * torch.sin(3 * grid),                # straw
        0.05 + 0.02 * grid,                              # shadow
    ])
    mix = torch.distributions.Dirichlet(torch.full((cfg["materials"],), 0.7)).sample((cfg["pixels"],))
    return mix @ spectra + 0.01 * torch.randn(cfg["pixels"], cfg["bands"])


def train_epoch(model, pixels, optimizer, cfg):
    total, batches = 0.0, 0
    # the positive weights are read twice per batch (decoder and roughness): don't recompute them
    with parametrize.cached():  # expect: place
        for chunk in pixels[torch.randperm(len(pixels))].split(cfg["batch"]):
            recon, abundance = model(chunk)
            loss = F.mse_loss(recon, chunk) + cfg["smooth"] * roughness(model.endmembers())
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
            total += loss.item()
            batches += 1
    return total / batches


def main(cfg):
    torch.manual_seed(cfg["seed"])
    pixels = make_field(cfg)
    model = Unmixer(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        print("epoch", epoch, "loss %.5f" % train_epoch(model, pixels, optimizer, cfg))
    with torch.no_grad():
        print("leaf-like spectrum:", model.endmembers()[0, ::5].numpy().round(2))


if __name__ == "__main__":
    main(CFG)
