# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index 6 appears to not have been used in the graph
# expect: carrier = fast, grads
"""Meta-learned detectors for passive acoustic monitoring.

Every recording site is a task; a site is scored for a single taxon, whose head
sits on a common spectrogram encoder. Second-order MAML over sites.
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

TAXA = ("bird", "frog", "insect")
BANDS = 16


class Detector(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(BANDS, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.heads = nn.ModuleDict({t: nn.Linear(hidden, 1) for t in TAXA})

    def forward(self, spectrum, taxon):
        return self.heads[taxon](self.encoder(spectrum)).squeeze(-1)


class Sites:
    """Draws sites: a band profile of the calls and a noise floor."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def draw(self):
        g = self.gen
        which = int(torch.randint(0, len(TAXA), (1,), generator=g))
        centre = 3.0 + 4.0 * which + 1.5 * torch.randn(1, generator=g)
        call = torch.exp(-0.5 * (torch.arange(BANDS) - centre) ** 2)
        floor = 0.3 * torch.rand(BANDS, generator=g)
        return TAXA[which], self._clips(call, floor, 16), self._clips(call, floor, 32)

    def _clips(self, call, floor, n):
        y = torch.randint(0, 2, (n,), generator=self.gen).float()
        noise = 0.3 * torch.randn(n, BANDS, generator=self.gen)
        return floor + noise + 1.5 * y[:, None] * call, y


class MetaTrainer:
    def __init__(self, net, inner_lr=0.4, inner_steps=2, outer_lr=5e-3):
        self.net = net
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps
        self.optimizer = torch.optim.Adam(net.parameters(), lr=outer_lr)

    def site_loss(self, params, clips, taxon):
        x, y = clips
        logit = functional_call(self.net, params, (x, taxon))
        return F.binary_cross_entropy_with_logits(logit, y)

    def adapt(self, taxon, support):
        fast = dict(self.net.named_parameters())  # expect: place
        for _ in range(self.inner_steps):
            loss = self.site_loss(fast, support, taxon)
            used = [k for k in fast if k.startswith(("encoder.", f"heads.{taxon}."))]
            grads = torch.autograd.grad(loss, [fast[k] for k in used], create_graph=True)
            fast = {**fast, **{k: fast[k] - self.inner_lr * g for k, g in zip(used, grads)}}
        return fast

    def outer_step(self, tasks):
        query_loss = 0.0
        for taxon, support, query in tasks:
            fast = self.adapt(taxon, support)
            query_loss = query_loss + self.site_loss(fast, query, taxon)
        query_loss = query_loss / len(tasks)
        self.optimizer.zero_grad()
        query_loss.backward()
        self.optimizer.step()
        return query_loss.item()


if __name__ == "__main__":
    torch.manual_seed(11)
    sites = Sites(seed=12)
    trainer = MetaTrainer(Detector())
    for it in range(25):
        value = trainer.outer_step([sites.draw() for _ in range(6)])
        if it % 6 == 0:
            print(f"meta step {it:3d}: query loss {value:.4f}")
