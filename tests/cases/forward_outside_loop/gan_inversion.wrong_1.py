# Finds the latent of a given picture: the picture is generated once, in front of the search.
import torch
import torch.nn as nn


class Synthesis(nn.Module):
    def __init__(self, latent=6, size=8):
        super().__init__()
        self.fc = nn.Linear(latent, 4 * 4)
        self.up = nn.Upsample(scale_factor=size // 4, mode="bilinear")
        self.conv = nn.Conv2d(1, 1, 3, padding=1)

    def forward(self, w):
        x = torch.tanh(self.fc(w)).view(-1, 1, 4, 4)
        return torch.sigmoid(self.conv(self.up(x)))


def total_variation(x):
    return (x[..., 1:] - x[..., :-1]).abs().mean() + (x[..., 1:, :] - x[..., :-1, :]).abs().mean()


def invert(generator, target, iterations=5, lr=0.1, tv=0.01):
    w = torch.zeros(1, 6, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=lr)
    image = generator(w)
    for i in range(iterations):
        loss = nn.functional.mse_loss(image, target) + tv * total_variation(image)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        print(f"{i}: {loss.item():.5f}")
    return w.detach()


torch.manual_seed(0)
generator = Synthesis().eval()
for p in generator.parameters():
    p.requires_grad_(False)
with torch.no_grad():
    target = generator(torch.randn(1, 6))
print(invert(generator, target))
