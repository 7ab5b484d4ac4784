# expect: pattern = none
# expect: raises = nothing
"""Prefix tuning: a language model that stays as it is, a few virtual tokens in front that learn a dialect.
Four micro batches make one update."""
import torch
from torch import nn
from torch.nn import functional as F

VOCAB, DIM, PREFIX = 26, 16, 4


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.position = nn.Parameter(0.1 * torch.randn(32, DIM))
        self.layer = nn.TransformerEncoderLayer(DIM, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, tokens, prefix=None):
        h = self.embed(tokens)
        if prefix is not None:
            h = torch.cat([prefix.expand(len(tokens), -1, -1), h], dim=1)
        n = h.size(1)
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
        h = self.layer(h + self.position[:n], src_mask=mask)
        return self.head(h[:, -tokens.size(1):])


class PrefixEncoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.virtual = nn.Parameter(torch.randn(PREFIX, DIM))
        self.mlp = nn.Sequential(nn.Linear(DIM, width), nn.Tanh(), nn.Linear(width, DIM))

    def forward(self):
        return self.mlp(self.virtual).unsqueeze(0)


def sayings(n, step, gen, length=12):
    first = torch.randint(0, VOCAB, (n, 1), generator=gen)
    return (first + step * torch.arange(length + 1)) % VOCAB


def pretrain(lm, gen, steps=30):
    optimizer = torch.optim.Adam(lm.parameters(), lr=1e-2)
    for _ in range(steps):
        text = sayings(16, int(torch.randint(1, 4, (1,), generator=gen)), gen)
        loss = F.cross_entropy(lm(text[:, :-1]).transpose(1, 2), text[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lm.requires_grad_(False)
    return lm.eval()


def main():
    torch.manual_seed(44)
    gen = torch.Generator().manual_seed(45)
    lm = pretrain(TinyLM(), gen)
    encoder = PrefixEncoder()
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-2)
    micro, accumulate = 32, 4
    seen, total = [], 0.0
    optimizer.zero_grad()
    for i in range(micro):
        text = sayings(4, 2, gen)
        logits = lm(text[:, :-1], encoder())
        loss = F.cross_entropy(logits.transpose(1, 2), text[:, 1:])
        (loss / accumulate).backward()
        total += loss.item()
        if (i + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            seen.append(total / accumulate)
            total = 0.0
    print("loss of each update", [round(v, 3) for v in seen])


if __name__ == "__main__":
    main()
