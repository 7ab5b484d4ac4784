"""Which foundry cast this letter? Search of type specimens, with a query that may be refined.

After a short training all specimens are embedded page by page and kept; a query is then moved
towards the marks "yes" and away from the marks "no" of the printer's historian.
"""
import torch
import torch.nn.functional as F
from torch import nn

FOUNDRIES, GLYPH, WIDTH = 8, 36, 10


class GlyphEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.ink = nn.Linear(GLYPH, 32)
        self.shape = nn.Linear(32, WIDTH)

    def forward(self, glyphs):
        return F.normalize(self.shape(torch.relu(self.ink(glyphs))), dim=-1)


class Specimens:
    def __init__(self):
        self.faces = torch.randn(FOUNDRIES, GLYPH)

    def page(self, n):
        foundry = torch.randint(FOUNDRIES, (n,))
        return self.faces[foundry] + 2.0 * torch.randn(n, GLYPH), foundry


def pull_together(vectors, foundry, temperature=0.2):
    sims = vectors @ vectors.t() / temperature
    itself = torch.eye(len(vectors), dtype=torch.bool)
    same = (foundry[:, None] == foundry[None, :]) & ~itself
    log_p = sims.masked_fill(itself, -1e9).log_softmax(1)
    return -(log_p * same).sum() / same.sum().clamp_min(1)


def train(encoder, specimens, steps=40):
    opt = torch.optim.Adam(encoder.parameters(), lr=5e-3)
    history = []
    for step in range(steps):
        glyphs, foundry = specimens.page(32)
        loss = pull_together(encoder(glyphs), foundry)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        history.append(loss.detach())
    print("loss", [round(x.item(), 2) for x in history[::10]])


class Gallery:
    """Vectors of all pages so far, with the foundry where it is known."""

    def __init__(self, encoder):
        self.encoder = encoder.eval()
        self.pages, self.foundries = [], []

    @torch.inference_mode()
    def add(self, glyphs, foundry):
        self.pages.append(self.encoder(glyphs))
        self.foundries.append(foundry)

    def freeze(self):
        self.vectors = torch.cat(self.pages).clone()
        self.labels = torch.cat(self.foundries)
        return self

    def refine(self, glyph, wanted, rounds=12, shown=8, rate=0.3):
        with torch.no_grad():
            query = self.encoder(glyph)
        trail = [query]
        for _ in range(rounds):
            probe = query.clone().requires_grad_()
            sims = self.vectors @ F.normalize(probe, dim=-1)
            top = sims.topk(shown).indices
            yes = (self.labels[top] == wanted).float()
            unlike = F.binary_cross_entropy_with_logits(4 * sims[top], yes)
            slope, = torch.autograd.grad(unlike, probe)
            query = F.normalize(probe.detach() - rate * slope, dim=-1)
            trail.append(query)
        return torch.stack(trail)

    def precision(self, query, wanted, k=10):
        return (self.labels[(self.vectors @ query).topk(k).indices] == wanted).float().mean().item()


def main():
    torch.manual_seed(1734)
    specimens = Specimens()
    encoder = GlyphEncoder()
    train(encoder, specimens)
    gallery = Gallery(encoder)
    for _ in range(6):
        gallery.add(*specimens.page(40))
    gallery.freeze()
    before, after = [], []
    glyphs, foundries = specimens.page(10)
    for glyph, foundry in zip(glyphs, foundries):
        trail = gallery.refine(glyph, foundry)
        before.append(gallery.precision(trail[0], foundry))
        after.append(gallery.precision(trail[-1], foundry))
    print(f"precision@10: {sum(before) / 10:.2f} -> {sum(after) / 10:.2f}")


if __name__ == "__main__":
    main()
