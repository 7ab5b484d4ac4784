# expect: pattern = none
# expect: raises = nothing
"""Segment-level recurrence: each block also attends to the last segment's hidden states."""
import copy

import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, mem):
        both = x if mem is None else torch.cat([mem, x], dim=1)
        k, v = self.kv(self.norm(both)).chunk(2, dim=-1)
        reach = both.shape[1] - x.shape[1]
        mask = torch.ones(x.shape[1], both.shape[1], dtype=torch.bool).tril(reach)
        return x + self.o(F.scaled_dot_product_attention(self.q(self.norm(x)), k, v, attn_mask=mask))


class SegmentLM(nn.Module):
    def __init__(self, vocab=24, dim=16, depth=2, mem_len=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        nn.init.normal_(self.emb.weight, std=0.2)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.mem_len = mem_len

    def forward(self, ids, mems):
        h, seen = self.emb(ids), []
        for n, block in enumerate(self.blocks):
            seen.append(h)
            h = block(h, mems[n] if mems else None)
        return h @ self.emb.weight.T, self._remember(seen, mems)

    def _remember(self, seen, mems):
        with torch.no_grad():
            joined = seen if not mems else [torch.cat([m, s], dim=1) for m, s in zip(mems, seen)]
            return [j[:, -self.mem_len :].detach() for j in joined]


class Shadow:
    """Averaged copy of the model; its predictions smooth the targets a little."""

    def __init__(self, model, decay=0.95):
        self.net, self.decay = copy.deepcopy(model).requires_grad_(False), decay
        self.mems = None

    def targets(self, ids):
        logits, self.mems = self.net(ids, self.mems)
        return logits.softmax(-1)

    def follow(self, model):
        for mine, theirs in zip(self.net.parameters(), model.parameters()):
            mine.lerp_(theirs.data, 1 - self.decay)


def main(segment=10, accumulate=3):
    torch.manual_seed(6)
    stream = (torch.arange(4 * 400).view(4, 400) * 7 + torch.randint(0, 2, (4, 400))) % 24
    model = SegmentLM()
    shadow = Shadow(model)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    mems, total = None, torch.zeros(())
    opt.zero_grad()
    for n, s in enumerate(range(0, 300, segment)):
        x, y = stream[:, s : s + segment], stream[:, s + 1 : s + 1 + segment]
        logits, mems = model(x, mems)
        hard = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        soft = F.kl_div(logits.log_softmax(-1), shadow.targets(x), reduction="batchmean") / segment
        loss = (hard + 0.1 * soft) / accumulate
        loss.backward()
        total += loss.detach()
        if (n + 1) % accumulate == 0:
            opt.step()
            shadow.follow(model)
            opt.zero_grad()
            if n % 9 == 8:
                print(f"segment {n}: {total.item() / (n + 1) * accumulate:.3f}")


if __name__ == "__main__":
    main()
