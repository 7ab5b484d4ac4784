# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = losses, logits
"""DP-SGD by hand: clip every example's gradient, add noise, step."""
import numpy as np
import torch
import torch.nn as nn


class Config:
    max_norm = 0.5
    sigma = 0.3
    lr = 0.2
    batch = 8
    steps = 5


class PrivateTrainer:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.params = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(self.params, lr=cfg.lr)
        self.loss = nn.CrossEntropyLoss(reduction="none")

    def clip(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        factor = min(1.0, self.cfg.max_norm / (norm.item() + 1e-6))
        return [factor * p.grad for p in self.params], norm.item()

    def step(self, x, y):
        losses = self.loss(self.model(x), y)  # expect: place
        total = [torch.zeros_like(p) for p in self.params]
        norms = []
        for one in losses:  # expect: place
            self.optimizer.zero_grad()
            one.backward()  # expect: place
            clipped, norm = self.clip()
            norms.append(norm)
            for t, g in zip(total, clipped):
                t.add_(g)
        for p, t in zip(self.params, total):
            noise = self.cfg.sigma * self.cfg.max_norm * torch.randn_like(t)
            p.grad = (t + noise) / len(losses)
        self.optimizer.step()
        return losses.mean().item(), float(np.median(norms))


def moons(rng, n):
    y = rng.integers(0, 2, n)
    angle = rng.uniform(0, np.pi, n)
    x = np.stack([np.cos(angle) + y, np.sin(angle) * (1 - 2 * y) + 0.5 * y], axis=1)
    return torch.tensor(x + 0.1 * rng.normal(size=x.shape), dtype=torch.float32), torch.tensor(y)


def main():
    torch.manual_seed(90)
    rng = np.random.default_rng(90)
    trainer = PrivateTrainer(nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2)), Config)
    for step in range(Config.steps):
        loss, median_norm = trainer.step(*moons(rng, Config.batch))
        print(f"step {step}: loss {loss:.4f}, median norm {median_norm:.3f}")


if __name__ == "__main__":
    main()
