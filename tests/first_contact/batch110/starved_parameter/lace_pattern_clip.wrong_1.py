"""Bobbin lace: photographs and prickings (the paper patterns) brought into one space, CLIP fashion."""
import math

import torch
from torch import nn
import torch.nn.functional as F

STITCHES, PHOTO, PRICKING = 8, 32, 20


class TwoTowers(nn.Module):
    def __init__(self, dim=16, tau=0.5):
        super().__init__()
        self.photo = nn.Sequential(nn.Linear(PHOTO, 48), nn.GELU(), nn.Linear(48, dim))
        self.pricking = nn.Sequential(nn.Linear(PRICKING, 48), nn.GELU(), nn.Linear(48, dim))
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / tau)))

    def embed(self, photos, prickings):
        return (F.normalize(self.photo(photos), dim=-1),
                F.normalize(self.pricking(prickings), dim=-1))

    def forward(self, photos, prickings):
        a, b = self.embed(photos, prickings)
        scale = self.log_scale.detach().exp().clamp(max=100.0)
        return scale * torch.einsum("id,jd->ij", a, b)


def lace(n, gen):
    basis = torch.Generator().manual_seed(0)
    to_photo = torch.randn(STITCHES, PHOTO, generator=basis)
    to_pricking = torch.randn(STITCHES, PRICKING, generator=basis)
    stitches = torch.randn(n, STITCHES, generator=gen)
    return (torch.tanh(stitches @ to_photo / 3) + 0.3 * torch.randn(n, PHOTO, generator=gen),
            torch.tanh(stitches @ to_pricking / 3) + 0.3 * torch.randn(n, PRICKING, generator=gen))


def clip_loss(logits):
    pairs = torch.arange(len(logits))
    return 0.5 * (F.cross_entropy(logits, pairs) + F.cross_entropy(logits.t(), pairs))


def recall(model, photos, prickings, k=3):
    with torch.no_grad():
        a, b = model.embed(photos, prickings)
        nearest = (a @ b.t()).topk(k).indices
        return (nearest == torch.arange(len(a))[:, None]).any(1).float().mean().item()


def groups(model, decay):
    """No weight decay for gains and biases, as everybody does."""
    plain = [p for p in model.parameters() if p.ndim < 2]
    heavy = [p for p in model.parameters() if p.ndim >= 2]
    return [{"params": heavy, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]


def main():
    torch.manual_seed(18)
    gen = torch.Generator().manual_seed(3)
    photos, prickings = lace(512, gen)
    held = lace(120, gen)
    model = TwoTowers()
    opt = torch.optim.AdamW(groups(model, 0.02), lr=4e-3)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, (step + 1) / 10))
    for epoch in range(6):
        for rows in torch.randperm(len(photos)).split(64):
            loss = clip_loss(model(photos[rows], prickings[rows]))
            opt.zero_grad()
            loss.backward()
            opt.step()
            warm.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}, recall@3 {recall(model, *held):.3f}, "
              f"temperature {1 / model.log_scale.exp().item():.3f}")


if __name__ == "__main__":
    main()
