# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.merged, merged, self.delta, delta, layer.delta
# Low-rank adapters on a frozen network; the low-rank product is formed when the layer is wrapped.
import math

import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(rank))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scaling = alpha / rank
        self.delta = self.scaling * (self.lora_B @ self.lora_A)  # expect: place

    def forward(self, x):
        return self.base(x) + nn.functional.linear(x, self.delta)  # expect: place


def inject(module: nn.Module, rank: int) -> nn.Module:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, rank))
        else:
            inject(child, rank)
    return module


def pretrained() -> nn.Sequential:
    return nn.Sequential(nn.Linear(10, 16), nn.SiLU(), nn.Linear(16, 4))


def finetune(steps: int = 4) -> None:
    model = inject(pretrained(), rank=2)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=5e-3)
    for step in range(steps):
        x = torch.randn(32, 10)
        labels = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
        loss = nn.functional.cross_entropy(model(x), labels)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(12)
    finetune()
