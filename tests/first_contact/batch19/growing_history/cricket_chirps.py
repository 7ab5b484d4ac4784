# expect: pattern = growing-history
# expect: also = stored-graph
# expect: carrier = weights, attention_log, log
"""Which crickets are singing? Tags for short spectrograms from a tiny transformer.

What the heads look at is kept for the figure in the report.
"""
import math
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionLog:
    def __init__(self):
        self.maps = defaultdict(list)

    def record(self, layer, weights):
        self.maps[layer].append(weights.mean(0))  # expect: place

    def average(self, layer):
        return torch.stack(self.maps[layer][-10:]).mean(0)


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, name, log):
        super().__init__()
        self.heads, self.name, self.log = heads, name, log
        self.to_qkv = nn.Linear(dim, dim * 3)
        self.to_out = nn.Linear(dim, dim)

    def split(self, x):
        b, n, d = x.shape
        return x.view(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = map(self.split, self.to_qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
        if self.training:
            self.log.record(self.name, weights)  # expect: place
        out = (weights @ v).transpose(1, 2).flatten(2)
        return self.to_out(out)


class Encoder(nn.Module):
    def __init__(self, dim, heads, depth, log):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(depth):
            self.layers.append(nn.ModuleList([
                nn.LayerNorm(dim), SelfAttention(dim, heads, f"layer{i}", log),
                nn.LayerNorm(dim), nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)),
            ]))

    def forward(self, x):
        for norm_a, attend, norm_b, mlp in self.layers:
            x = x + attend(norm_a(x))
            x = x + mlp(norm_b(x))
        return x


class ChirpTagger(nn.Module):
    def __init__(self, bands=12, frames=16, dim=16, species=5):
        super().__init__()
        self.log = AttentionLog()
        self.embed = nn.Linear(bands, dim)
        self.place = nn.Parameter(0.02 * torch.randn(frames, dim))
        self.encoder = Encoder(dim, heads=4, depth=2, log=self.log)
        self.head = nn.Linear(dim, species)

    def forward(self, spec):
        x = self.embed(spec.transpose(1, 2)) + self.place
        return self.head(self.encoder(x).mean(1))


def night(n, songs):
    tags = (torch.rand(n, len(songs)) < 0.3).float()
    spec = torch.einsum("ns,sbf->nbf", tags, songs)
    return spec + 0.4 * torch.randn_like(spec), tags


def main():
    torch.manual_seed(101)
    songs = torch.randn(5, 12, 16)
    model = ChirpTagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(4):
        model.train()
        losses = []
        for _ in range(6):
            spec, tags = night(16, songs)
            loss = F.binary_cross_entropy_with_logits(model(spec), tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            spec, tags = night(64, songs)
            right = ((model(spec) > 0) == tags.bool()).float().mean()
        print(f"night {epoch}: loss {sum(losses) / len(losses):.3f}, tags right {right:.2f}")
    focus = model.log.average("layer1").mean(0)
    print("most looked at frames:", focus.sum(0).topk(3).indices.tolist())


if __name__ == "__main__":
    main()
