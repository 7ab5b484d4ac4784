


"""Predict binned coverage tracks (ATAC, CAGE, two histone marks) from 120 bp of sequence.

First a Poisson phase to get the scale right, then fine-tuning on the correlation that we report.
"""
import torch
from torch import nn
from torch.nn import functional as F

TRACKS = ["atac", "cage", "h3k27ac", "h3k4me1"]
OBJECTIVES = {}


def objective(name):
    def register(fn):
        OBJECTIVES[name] = fn
        return fn

    return register


@objective("poisson")
def poisson(pred, obs):
    return F.poisson_nll_loss(pred, obs, log_input=False)


@objective("pearson")
def one_minus_pearson(pred, obs):
    scores = []
    for track in range(pred.shape[-1]):
        p = pred[..., track].reshape(-1)
        o = obs[..., track].reshape(-1)
        p = p - p.mean()
        o = o - o.mean()
        scores.append((p * o).sum() / (p.norm() * o.norm() + 1e-6))
    per_track = torch.tensor(scores, requires_grad=True)
    return 1.0 - per_track.mean()


class TrackNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.motifs = nn.Conv1d(4, width, 9, padding=4)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.heads = nn.ModuleDict({t: nn.Conv1d(width, 1, 1) for t in TRACKS})

    def forward(self, onehot):
        x = F.relu(self.motifs(onehot))
        x = F.max_pool1d(x, 10)
        x = x + F.gelu(self.mix(x))
        tracks = [F.softplus(self.heads[t](x)) for t in TRACKS]
        return torch.cat(tracks, dim=1).transpose(1, 2)


def loci(n=48, length=120):
    bases = torch.randint(4, (n, length))
    onehot = F.one_hot(bases, 4).float().transpose(1, 2)
    gc = onehot[:, 1:3].sum(1).reshape(n, -1, 10).mean(-1)
    rate = torch.stack([gc * 4, 3 - 2 * gc, 1 + gc.square() * 3, 1.5 - gc], dim=-1)
    return onehot, torch.poisson(rate.clamp(min=0.05))


def run_phase(net, opt, name, epochs, data, batch=16):
    seqs, coverage = data
    loss_fn = OBJECTIVES[name]
    for epoch in range(epochs):
        running = 0.0
        for idx in torch.randperm(len(seqs)).split(batch):
            opt.zero_grad()
            loss = loss_fn(net(seqs[idx]), coverage[idx])
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"{name:8s} epoch {epoch}  {running:.4f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    data = loci()
    net = TrackNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for phase, epochs in [("poisson", 3), ("pearson", 2)]:
        run_phase(net, opt, phase, epochs, data)
