# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = losses, fake_score
"""x2 super-resolution with an adversarial term (SRGAN, without the VGG part)."""
import torch
from torch import nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a = nn.Conv2d(ch, ch, 3, padding=1)
        self.act = nn.PReLU()
        self.b = nn.Conv2d(ch, ch, 3, padding=1)

    def forward(self, x):
        return x + self.b(self.act(self.a(x)))


class Upscaler(nn.Module):
    def __init__(self, ch=8, blocks=2):
        super().__init__()
        self.head = nn.Conv2d(3, ch, 5, padding=2)
        self.trunk = nn.Sequential(*[ResBlock(ch) for _ in range(blocks)])
        self.tail = nn.Sequential(nn.Conv2d(ch, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, lr):
        x = self.head(lr)
        return torch.tanh(self.tail(x + self.trunk(x)))


class Critic(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * ch, 1), nn.Sigmoid(),
        )

    def forward(self, img):
        return self.net(img)


def total_variation(img):
    return (img[..., 1:, :] - img[..., :-1, :]).abs().mean() + (img[..., 1:] - img[..., :-1]).abs().mean()


class SRTrainer:
    ORDER = ("critic", "upscaler")

    def __init__(self, lr=2e-4, adv_weight=1e-2, tv_weight=1e-4):
        self.nets = {"critic": Critic(), "upscaler": Upscaler()}
        self.opts = {k: torch.optim.Adam(n.parameters(), lr=lr, betas=(0.9, 0.99)) for k, n in self.nets.items()}
        self.adv_weight, self.tv_weight = adv_weight, tv_weight
        self.history = []

    def compute_losses(self, small, big):
        fake = self.nets["upscaler"](small)
        real_score = self.nets["critic"](big).mean()
        fake_score = self.nets["critic"](fake).mean()  # expect: place
        return {
            "critic": 1 - real_score + fake_score,
            "upscaler": F.mse_loss(fake, big)
            + self.adv_weight * (1 - fake_score.detach())
            + self.tv_weight * total_variation(fake),
        }

    def train_batch(self, small, big):
        losses = self.compute_losses(small, big)  # expect: place
        for name in self.ORDER:
            self.opts[name].zero_grad()
            losses[name].backward(retain_graph=(name == "critic"))  # expect: place
            self.opts[name].step()  # expect: place
        self.history.append({k: v.item() for k, v in losses.items()})

    def fit(self, images, epochs=2, size=8):
        for epoch in range(epochs):
            for rows in torch.randperm(len(images)).split(size):
                big = images[rows]
                self.train_batch(F.avg_pool2d(big, 2), big)
            last = self.history[-1]
            print(f"epoch {epoch}: critic {last['critic']:.4f}  upscaler {last['upscaler']:.4f}")


if __name__ == "__main__":
    torch.manual_seed(8)
    coarse = torch.rand(16, 3, 6, 6) * 2 - 1
    SRTrainer().fit(F.interpolate(coarse, size=24, mode="bicubic").clamp(-1, 1))
