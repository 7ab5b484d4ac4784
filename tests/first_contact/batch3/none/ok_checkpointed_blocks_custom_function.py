"""Deep residual net with checkpointed blocks and a clamp whose gradient passes through."""
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class PassThroughClamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.bounds = low, high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        low, high = ctx.bounds
        outward = ((x < low) & (grad > 0)) | ((x > high) & (grad < 0))
        return grad.masked_fill(outward, 0.0), None, None


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        h = nn.functional.gelu(self.up(self.norm(x)))
        h = PassThroughClamp.apply(h, -2.0, 2.0)
        return x + self.down(h)


class Deep(nn.Module):
    def __init__(self, d=16, depth=6, every=2):
        super().__init__()
        self.inp, self.out = nn.Linear(3, d), nn.Linear(d, 1)
        self.blocks = nn.ModuleList(Block(d) for _ in range(depth))
        self.every = every

    def forward(self, x):
        x = self.inp(x)
        for i, block in enumerate(self.blocks):
            if self.training and i % self.every == 0:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.out(x).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(5)
    model = Deep()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    best = float("inf")
    for it in range(10):
        x = torch.rand(32, 3)
        loss = (model(x) - x.prod(1) - x[:, 0]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        best = min(best, loss.item())
    model.eval()
    with torch.no_grad():
        print("best", round(best, 5), "eval", model(torch.full((1, 3), 0.5)).item())
