import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class DeepMLP(nn.Module):
    def __init__(self, width=16, depth=3, classes=3):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)])
        self.classes = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, classes))

    def forward(self, x):
        h = x
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=True)
        return checkpoint(self.classes, h, use_reentrant=True)


torch.manual_seed(7)
model = DeepMLP()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(20, 16)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.requires_grad_()
    loss.backward()
    opt.step()
    print(step, loss.item())
