# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = grad, quality, head, param_groups
"""Will this grasp hold?  Depth patch + gripper pose -> success probability.

Uses our own optimizer (sign of the momentum, decoupled decay) with a slower backbone.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Optimizer


class SignMomentum(Optimizer):
    def __init__(self, params, lr=1e-3, beta=0.9, decay=0.0):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"beta out of range: {beta}")
        super().__init__(params, dict(lr=lr, beta=beta, decay=decay))

    def zero_grad(self, set_to_none=True):
        for p in self.param_groups[0]["params"]:  # expect: place
            p.grad = None

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["velocity"] = torch.zeros_like(p)
                velocity = state["velocity"]
                p.mul_(1 - group["lr"] * group["decay"])
                p.add_(velocity.lerp(p.grad, 1 - group["beta"]).sign(), alpha=-group["lr"])
                velocity.lerp_(p.grad, 1 - group["beta"])
        return loss


class DepthBackbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ELU(), nn.MaxPool2d(2), nn.Conv2d(6, 10, 3, padding=1), nn.ELU())

    def forward(self, depth):
        return self.conv(depth).mean(dim=(2, 3))


class GraspQuality(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = DepthBackbone()
        self.head = nn.Sequential(nn.Linear(10 + 4, 24), nn.ELU(), nn.Linear(24, 1))

    def forward(self, depth, pose):
        features = torch.cat([self.backbone(depth), pose], dim=1)
        return self.head(features).squeeze(1)


def simulate(n, rng):
    """A box under the gripper: holds if the opening fits and the angle is right."""
    width = 0.2 + 0.6 * torch.rand(n, generator=rng)
    angle = 2 * torch.rand(n, generator=rng) - 1
    opening = torch.rand(n, generator=rng)
    height = 0.3 * torch.rand(n, generator=rng)
    axis = torch.linspace(-1, 1, 12)
    depth = (axis.abs().view(1, 1, -1) < width.view(-1, 1, 1)).float().expand(n, 12, 12)
    depth = depth + 0.05 * torch.randn(n, 12, 12, generator=rng)
    pose = torch.stack([angle, angle ** 2, opening, height], dim=1)
    margin = (opening - 0.8 * width) * 4 - 2 * angle ** 2 + 0.3
    return depth.unsqueeze(1), pose, (margin > 0).float()


def train(model, epochs=12, batch=32, n=256):
    rng = torch.Generator().manual_seed(50)
    depth, pose, held = simulate(n, rng)
    optimizer = SignMomentum([
        {"params": model.backbone.parameters(), "lr": 1e-3},
        {"params": model.head.parameters(), "lr": 1e-2, "decay": 1e-2},
    ])
    for epoch in range(epochs):
        losses, right = [], 0
        for rows in torch.randperm(n, generator=rng).split(batch):
            optimizer.zero_grad()  # expect: place
            quality = model(depth[rows], pose[rows])
            loss = F.binary_cross_entropy_with_logits(quality, held[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            right += ((quality > 0).float() == held[rows]).sum().item()
        if epoch % 3 == 2:
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}  accuracy {right / n:.2f}")


if __name__ == "__main__":
    torch.manual_seed(49)
    train(GraspQuality())
