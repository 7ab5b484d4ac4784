# expect: pattern = none
# expect: raises = nothing
"""Binding-site classifier with a smoothness prior on its input attributions."""
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional as F

LENGTH = 40


class Callback:
    def after_chunk(self, job): ...
    def after_step(self, job): ...


class SaliencyAtlas(Callback):
    """Running average of the attribution profile, for the report."""

    def __init__(self):
        self.profile = torch.zeros(LENGTH)

    def after_chunk(self, job):
        self.profile.mul_(0.9).add_(job.attribution.detach().abs().sum(1).mean(0), alpha=0.1)


class NonNegativeReadout(Callback):
    def after_step(self, job):
        with torch.no_grad():
            job.net.readout.weight.clamp_(min=0.0)


class SiteNet(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.scan = nn.Conv1d(4, width, 7, padding=3)
        self.readout = nn.Linear(width, 1)

    def forward(self, onehot):
        hits = F.softplus(self.scan(onehot))
        return self.readout(hits.amax(-1)).squeeze(-1)


class Job:
    def __init__(self, net, callbacks, chunks=2, prior=0.5):
        self.net, self.callbacks, self.chunks, self.prior = net, callbacks, chunks, prior
        self.opt = torch.optim.Adam(net.parameters(), lr=5e-3)
        self.attribution = None
        self.loss_log = []

    def fire(self, event):
        for cb in self.callbacks:
            getattr(cb, event)(self)

    @contextmanager
    def accumulating(self):
        self.opt.zero_grad()
        yield
        self.opt.step()
        self.fire("after_step")

    def chunk(self, onehot, bound):
        onehot = onehot.clone().requires_grad_()
        logit = self.net(onehot)
        bce = F.binary_cross_entropy_with_logits(logit, bound)
        (self.attribution,) = torch.autograd.grad(logit.sum(), onehot, create_graph=True)
        rough = (self.attribution[..., 1:] - self.attribution[..., :-1]).abs().mean()
        (bce / self.chunks).backward(retain_graph=True)
        (self.prior * rough / self.chunks).backward()
        self.fire("after_chunk")
        self.attribution = None
        return bce.detach()

    def fit(self, batches):
        for onehot, bound in batches:
            with self.accumulating():
                pieces = zip(onehot.chunk(self.chunks), bound.chunk(self.chunks))
                bces = [self.chunk(x, y) for x, y in pieces]
            self.loss_log.append(torch.stack(bces).mean())


def genome(n_batches, batch=16):
    motif = torch.tensor([0, 2, 3, 1, 0])
    for _ in range(n_batches):
        bases = torch.randint(4, (batch, LENGTH))
        bound = (torch.rand(batch) < 0.5).float()
        bases[bound.bool(), 15:20] = motif
        yield F.one_hot(bases, 4).float().transpose(1, 2), bound


if __name__ == "__main__":
    torch.manual_seed(12)
    atlas = SaliencyAtlas()
    job = Job(SiteNet(), [atlas, NonNegativeReadout()])
    job.fit(genome(10))
    print("bce", [round(v.item(), 3) for v in job.loss_log])
    print("strongest position", atlas.profile.argmax().item())
