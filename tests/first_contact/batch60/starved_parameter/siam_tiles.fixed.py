# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = targets, online
"""Negative-free siamese pretraining on small grey tiles (SimSiam recipe)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, TILE, DIM = 5, 12, 32


def textures(n):
    """Oriented gratings; the orientation is what a good encoder should find."""
    grid = torch.linspace(-1, 1, TILE)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    theta = torch.pi * torch.rand(n, 1, 1)
    wave = torch.sin(8 * (xx * torch.cos(theta) + yy * torch.sin(theta)))
    return wave[:, None]


def augment(x):
    gain = 0.6 + 0.8 * torch.rand(x.shape[0], 1, 1, 1)
    shift = torch.randint(-2, 3, (2,)).tolist()
    return gain * torch.roll(x, shifts=shift, dims=(2, 3)) + 0.1 * torch.randn_like(x)


class SiamNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projector = nn.Sequential(nn.Linear(32, DIM), nn.BatchNorm1d(DIM), nn.ReLU(), nn.Linear(DIM, DIM))
        self.predictor = nn.Sequential(nn.Linear(DIM, DIM // 4), nn.ReLU(), nn.Linear(DIM // 4, DIM))

    def embed(self, x):
        return self.projector(self.backbone(x))

    def forward(self, views):
        # stop-gradient on the target branch, one pass of the encoder for each view
        latents = [self.embed(v) for v in views]
        targets = [z.detach() for z in latents]  # expect: place
        online = [self.predictor(z) for z in latents]  # expect: place
        return online, targets


def symmetric_loss(online, targets):
    p1, p2 = online
    z1, z2 = targets
    return -0.5 * (F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean())


def cosine_lr(optimizer, base, step, total):
    for group in optimizer.param_groups:
        group["lr"] = 0.5 * base * (1 + torch.cos(torch.tensor(torch.pi * step / total)).item())


def spread(net, n=64):
    """Std of the normalised embeddings; near 0 means collapse."""
    net.eval()
    with torch.no_grad():
        z = F.normalize(net.embed(textures(n)), dim=1)
    net.train()
    return z.std(dim=0).mean().item()


def main(steps=16, batch=32, base_lr=0.05):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    net = SiamNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=base_lr, momentum=0.9, weight_decay=1e-4)
    for step in range(steps):
        cosine_lr(optimizer, base_lr, step, steps)
        x = textures(batch)
        online, targets = net((augment(x), augment(x)))
        loss = symmetric_loss(online, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step:3d}  loss {loss.item():+.4f}  spread {spread(net):.4f}")
    return net


if __name__ == "__main__":
    main()
