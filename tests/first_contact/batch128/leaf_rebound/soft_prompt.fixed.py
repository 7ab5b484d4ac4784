"""Steer a frozen toy language encoder with a handful of trained prompt vectors."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = dict(vocab=50, dim=32, heads=4, prompt_len=5, classes=3, lr=2e-2, steps=40, batch=32, seed=77)


class TinyEncoder(nn.Module):
    def __init__(self, vocab, dim, heads):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, embeds):
        h = self.norm1(embeds)
        embeds = embeds + self.attn(h, h, h, need_weights=False)[0]
        return embeds + self.ff(self.norm2(embeds))


def sample_batch(rng, size):
    label = rng.integers(0, cfg["classes"], size=size)
    ids = rng.integers(0, cfg["vocab"], size=(size, 10))
    lucky = rng.random((size, 10)) < 0.35
    ids = np.where(lucky, label[:, None] * 7 + 3, ids)
    return torch.from_numpy(ids), torch.from_numpy(label)


def predict(encoder, head, prompt, ids):
    words = encoder.tok(ids)
    front = prompt.unsqueeze(0).expand(len(ids), -1, -1)
    hidden = encoder(torch.cat([front, words], dim=1))
    return head(hidden[:, : cfg["prompt_len"]].mean(dim=1))


def main():
    torch.manual_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])

    encoder = TinyEncoder(cfg["vocab"], cfg["dim"], cfg["heads"]).eval()
    for p in encoder.parameters():
        p.requires_grad_(False)
    head = nn.Linear(cfg["dim"], cfg["classes"])

    # start near real words, as the paper does
    seeds = torch.randint(0, cfg["vocab"], (cfg["prompt_len"],))
    prompt = torch.randn(cfg["prompt_len"], cfg["dim"])
    prompt = (encoder.tok(seeds) + 0.02 * prompt).requires_grad_()

    optimizer = torch.optim.Adam([
        {"params": [prompt], "lr": cfg["lr"]},
        {"params": head.parameters(), "lr": cfg["lr"] / 4},
    ])
    for step in range(cfg["steps"]):
        ids, label = sample_batch(rng, cfg["batch"])
        logits = predict(encoder, head, prompt, ids)
        loss = F.cross_entropy(logits, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            acc = (logits.argmax(1) == label).float().mean().item()
            print(f"step {step:3d}  loss {loss.item():.3f}  acc {acc:.2f}")

    with torch.no_grad():
        ids, label = sample_batch(rng, 200)
        acc = (predict(encoder, head, prompt, ids).argmax(1) == label).float().mean()
        nearest = torch.cdist(prompt, encoder.tok.weight).argmin(dim=1)
    print("test acc", round(acc.item(), 3))
    print("closest words", nearest.tolist())


if __name__ == "__main__":
    main()
