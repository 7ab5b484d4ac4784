# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = quant, q, code, out, self.codebooks, codebooks, straight, zq
"""Residual vector quantiser for short note-on/velocity patterns (music tokens).
Encoder -> 2 codebooks -> decoder, plain VQ losses (no EMA)."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Hyper:
    steps: int = 60
    batch: int = 24
    slots: int = 16
    dim: int = 8
    codes: int = 12
    levels: int = 2
    beta: float = 0.25
    lr: float = 4e-3
    seed: int = 29


class Quantiser(nn.Module):
    """One codebook. Returns the vectors that the decoder should see and the indices."""

    def __init__(self, codes, dim):
        super().__init__()
        self.table = nn.Embedding(codes, dim)
        nn.init.uniform_(self.table.weight, -0.5, 0.5)

    def forward(self, x):
        idx = torch.cdist(x.detach(), self.table.weight.detach()).argmin(dim=1)
        code = self.table(idx)
        straight = x + (code - x).detach()  # expect: place
        return straight, idx  # expect: place


class RhythmCodec(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.hp = hp
        self.encoder = nn.Sequential(nn.Linear(hp.slots, 32), nn.GELU(), nn.Linear(32, hp.dim))
        self.decoder = nn.Sequential(nn.Linear(hp.dim, 32), nn.GELU(), nn.Linear(32, hp.slots))
        self.codebooks = nn.ModuleList([Quantiser(hp.codes, hp.dim) for _ in range(hp.levels)])

    def forward(self, x):
        residual = self.encoder(x)
        total, book_loss, commit, tokens = 0.0, 0.0, 0.0, []
        for quant in self.codebooks:
            q, idx = quant(residual)
            book_loss = book_loss + F.mse_loss(q, residual.detach())  # expect: place
            commit = commit + F.mse_loss(residual, q.detach())
            total = total + q
            residual = residual - q.detach()
            tokens.append(idx)
        return self.decoder(total), book_loss, commit, torch.stack(tokens, 1)


def patterns(hp, gen):
    """Straight, swung and clave-like bars with jittered velocity."""
    kinds = torch.zeros(4, hp.slots)
    kinds[0, ::4] = 1.0
    kinds[1, ::2] = 0.7
    kinds[2, [0, 3, 6, 10, 12]] = 1.0
    kinds[3, [2, 5, 8, 11, 14]] = 0.9
    pick = torch.randint(0, 4, (hp.batch,), generator=gen)
    loud = 0.6 + 0.4 * torch.rand(hp.batch, 1, generator=gen)
    return kinds[pick] * loud + 0.03 * torch.randn(hp.batch, hp.slots, generator=gen)


def usage(tokens, hp):
    return [int(t.unique().numel()) for t in tokens.unbind(1)]


def main(hp):
    torch.manual_seed(hp.seed)
    gen = torch.Generator().manual_seed(hp.seed)
    codec = RhythmCodec(hp)
    opt = torch.optim.Adam(codec.parameters(), lr=hp.lr)
    for step in range(hp.steps):
        x = patterns(hp, gen)
        out, book, commit, tokens = codec(x)
        recon = F.mse_loss(out, x)
        loss = recon + book + hp.beta * commit
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 15 == 0 or step == hp.steps - 1:
            print("step %2d recon %.4f book %.4f codes used %s" % (step, recon.item(), float(book), usage(tokens, hp)))


main(Hyper())
