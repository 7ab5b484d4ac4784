# expect: pattern = starved-parameter
# expect: carrier = top_p, weights, route, router
"""Sparse mixture of experts that guesses the sorting centre of a letter from its hashed address."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))


class SparseMoE(nn.Module):
    def __init__(self, dim, n_experts=6, k=2, hidden=24, jitter=0.1):
        super().__init__()
        self.k, self.jitter = k, jitter
        self.router = nn.Linear(dim, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(n_experts))
        self.register_buffer("load", torch.zeros(n_experts))

    @torch.no_grad()  # expect: place
    def route(self, tokens):  # expect: place
        """Which experts see which token, and how much they count. Keeps the load statistics too."""
        logits = self.router(tokens)  # expect: place
        if self.training:
            logits = logits + self.jitter * torch.randn_like(logits)
        probs = logits.softmax(dim=-1)
        top_p, top_i = probs.topk(self.k, dim=-1)  # expect: place
        top_p = top_p / top_p.sum(-1, keepdim=True)
        self.load.mul_(0.9).add_(torch.bincount(top_i.flatten(), minlength=len(self.load)), alpha=0.1)
        return top_p, top_i

    def forward(self, x):
        tokens = x.reshape(-1, x.size(-1))
        weights, chosen = self.route(tokens)  # expect: place
        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == e)
            if rows.numel() == 0:
                continue
            out = out.index_add(0, rows, weights[rows, slot, None] * expert(tokens[rows]))  # expect: place
        return out.reshape(x.shape)


class MoEBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.moe = SparseMoE(dim)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.moe(self.norm2(x))


class MailSorter(nn.Module):
    def __init__(self, vocab=60, dim=16, centres=5, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.Sequential(*[MoEBlock(dim, 4) for _ in range(depth)])
        self.head = nn.Linear(dim, centres)

    def forward(self, address):
        return self.head(self.blocks(self.embed(address)).mean(1))


def letters(n, length=7, vocab=60, centres=5):
    address = torch.randint(vocab, (n, length))
    return address, (address[:, 0] // 12 + (address[:, -1] > 40).long()) % centres


def train(steps=30, batch_size=32):
    model = MailSorter()
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    opt = torch.optim.AdamW([{"params": decay}, {"params": rest, "weight_decay": 0.0}], lr=4e-3, weight_decay=0.0)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 5))
    for step in range(steps):
        address, centre = letters(batch_size)
        loss = F.cross_entropy(model(address), centre)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if (step + 1) % 10 == 0:
            share = model.blocks[0].moe.load / model.blocks[0].moe.load.sum()
            print(f"{step + 1:3d}  loss {loss.item():.3f}  load " + " ".join(f"{s:.2f}" for s in share))
    return model


if __name__ == "__main__":
    torch.manual_seed(2)
    train()
