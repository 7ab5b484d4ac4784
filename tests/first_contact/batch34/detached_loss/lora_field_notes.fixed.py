"""Low-rank adapters on a (here: randomly initialised) little transformer that tags field notes by habitat."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int = 60
    d_model: int = 32
    heads: int = 4
    layers: int = 2
    classes: int = 4
    max_len: int = 20
    lora_r: int = 4
    lora_alpha: float = 8.0
    lr: float = 5e-3
    steps: int = 15


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.q_proj = nn.Linear(cfg.d_model, cfg.d_model)
        self.k_proj = nn.Linear(cfg.d_model, cfg.d_model)
        self.v_proj = nn.Linear(cfg.d_model, cfg.d_model)
        self.out = nn.Linear(cfg.d_model, cfg.d_model)
        self.mlp = nn.Sequential(nn.Linear(cfg.d_model, 64), nn.GELU(), nn.Linear(64, cfg.d_model))
        self.ln1, self.ln2 = nn.LayerNorm(cfg.d_model), nn.LayerNorm(cfg.d_model)

    def forward(self, x):
        b, t, d = x.shape
        h = self.ln1(x)
        q, k, v = (f(h).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)
        x = x + self.out(a)
        return x + self.mlp(self.ln2(x))


class NoteTagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.d_model)
        self.pos = nn.Embedding(cfg.max_len, cfg.d_model)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.classifier = nn.Linear(cfg.d_model, cfg.classes)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1)))
        for block in self.blocks:
            x = block(x)
        return self.classifier(x.mean(1))


def inject_lora(model, cfg, targets=("q_proj", "v_proj")):
    replaced = 0
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in targets and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child, cfg.lora_r, cfg.lora_alpha))
                replaced += 1
    return replaced


def build(cfg):
    model = NoteTagger(cfg)
    n = inject_lora(model, cfg)
    # the pretrained weights stay as they are
    for name, param in model.named_parameters():
        param.requires_grad = "lora_" in name
    print(f"{n} layers adapted")
    return model


def main():
    torch.manual_seed(3)
    cfg = Config()
    model = build(cfg)
    optimizer = torch.optim.AdamW([p for n, p in model.named_parameters() if "lora_" in n], lr=cfg.lr)
    for step in range(cfg.steps):
        labels = torch.randint(0, cfg.classes, (16,))
        ids = torch.randint(0, cfg.vocab // 2, (16, 12)) + 7 * labels[:, None]
        loss = F.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
