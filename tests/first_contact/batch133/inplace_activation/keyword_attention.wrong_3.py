"""Keyword spotting on log-mel frames with a small self-attention encoder."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 17
N_MELS = 20
MAX_FRAMES = 24
KEYWORDS = ["yes", "no", "stop", "go", "left"]


def synth_utterance(label, generator):
    """A fake log-mel: one formant track per keyword, of random length, in noise."""
    n = int(torch.randint(12, MAX_FRAMES + 1, (1,), generator=generator))
    t = torch.linspace(0, 1, n)
    centre = 4 + 2.5 * label + 3 * torch.sin(math.pi * t * (1 + label % 2))
    mel = torch.arange(N_MELS, dtype=torch.float32)
    energy = torch.exp(-0.3 * (mel[None, :] - centre[:, None]) ** 2)
    return energy + 0.25 * torch.randn(n, N_MELS, generator=generator)


def collate(utterances, labels):
    frames = torch.zeros(len(utterances), MAX_FRAMES, N_MELS)
    padding = torch.ones(len(utterances), MAX_FRAMES, dtype=torch.bool)
    for row, utterance in enumerate(utterances):
        frames[row, : len(utterance)] = utterance
        padding[row, : len(utterance)] = False
    return {"frames": frames, "padding": padding, "label": torch.tensor(labels)}


def batches(n_batches, size, seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(n_batches):
        labels = torch.randint(len(KEYWORDS), (size,), generator=generator).tolist()
        yield collate([synth_utterance(label, generator) for label in labels], labels)


class FrameAttention(nn.Module):
    """Self attention with frame drop: now and then a whole frame may not be attended to."""

    def __init__(self, dim, heads, frame_drop=0.15):
        super().__init__()
        self.heads = heads
        self.frame_drop = frame_drop
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, padding):
        b, t, d = x.shape
        qkv = self.qkv(x).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)
        if self.training and self.frame_drop > 0:
            dropped = torch.rand(b, 1, 1, t) < self.frame_drop
            with torch.no_grad():
                weights = weights.masked_fill(dropped, 0.0)
            weights = weights / (1.0 - self.frame_drop)
        context = (weights @ v).transpose(1, 2).reshape(b, t, d)
        return self.out(context)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = FrameAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, padding):
        x = x + self.attention(self.norm1(x), padding)
        return x + self.mlp(self.norm2(x))


class KeywordSpotter(nn.Module):
    def __init__(self, dim=32, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Linear(N_MELS, dim)
        self.position = nn.Parameter(0.02 * torch.randn(MAX_FRAMES, dim))
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.head = nn.Linear(dim, len(KEYWORDS))

    def forward(self, batch):
        x = self.embed(batch["frames"]) + self.position
        for block in self.blocks:
            x = block(x, batch["padding"])
        real = (~batch["padding"]).unsqueeze(-1).float()
        return self.head((x * real).sum(dim=1) / real.sum(dim=1))


@torch.no_grad()
def evaluate(model):
    model.eval()
    hits, total = 0, 0
    for batch in batches(3, 32, seed=SEED + 1):
        hits += (model(batch).argmax(dim=-1) == batch["label"]).sum().item()
        total += len(batch["label"])
    model.train()
    return hits / total


def main():
    torch.manual_seed(SEED)
    model = KeywordSpotter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    print(f"before: accuracy {evaluate(model):.2f}")
    for step, batch in enumerate(batches(12, 32, seed=SEED)):
        loss = F.cross_entropy(model(batch), batch["label"], label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 4 == 3:
            print(f"step {step + 1}: loss {loss.item():.3f}")
    print(f"after: accuracy {evaluate(model):.2f}")


if __name__ == "__main__":
    main()
