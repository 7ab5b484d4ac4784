"""Volcanic tremor states from seismic band energies: HMM with neural emissions, generalised EM.

E step: forward-backward over the night.  M step: a few Adam steps on the expected
complete-data log-likelihood (emission network, transition logits, start logits).
"""
import torch
from torch import nn
import torch.nn.functional as F


class Emission(nn.Module):
    """p(band energies | state), mean and scale from an embedded state and the hour of day."""

    def __init__(self, states, bands):
        super().__init__()
        self.embed = nn.Embedding(states, 6)
        self.body = nn.Sequential(nn.Linear(7, 24), nn.ELU(), nn.Linear(24, 2 * bands))

    def forward(self, obs, hour):
        S = self.embed.num_embeddings
        code = self.embed.weight.unsqueeze(0).expand(len(obs), S, -1)
        inp = torch.cat([code, hour[:, None, None].expand(-1, S, 1)], dim=-1)
        mean, log_sd = self.body(inp).chunk(2, dim=-1)
        dist = torch.distributions.Normal(mean, F.softplus(log_sd) + 0.1)
        return dist.log_prob(obs.unsqueeze(1)).sum(-1)


class TremorHMM(nn.Module):
    def __init__(self, states=3, bands=4):
        super().__init__()
        self.emission = Emission(states, bands)
        self.trans = nn.Parameter(2.0 * torch.eye(states))
        self.start = nn.Parameter(torch.zeros(states))

    def tables(self, obs, hour):
        return (self.emission(obs, hour), F.log_softmax(self.trans, dim=1),
                F.log_softmax(self.start, dim=0))

    def posteriors(self, obs, hour):
        emit, trans, start = self.tables(obs, hour)
        fwd = [start + emit[0]]
        for e in emit[1:]:
            fwd.append(torch.logsumexp(fwd[-1].unsqueeze(1) + trans, dim=0) + e)
        bwd = [torch.zeros_like(start)]
        for e in emit.flip(0)[:-1]:
            bwd.append(torch.logsumexp(trans + (e + bwd[-1]).unsqueeze(0), dim=1))
        fwd, bwd = torch.stack(fwd), torch.stack(bwd[::-1])
        evidence = torch.logsumexp(fwd[-1], dim=0)
        gamma = (fwd + bwd - evidence).exp()
        pair = fwd[:-1].unsqueeze(2) + trans + (emit[1:] + bwd[1:]).unsqueeze(1)
        return gamma, (pair - evidence).exp().sum(0), evidence.item()

    def expected_loglik(self, obs, hour, gamma, xi):
        emit, trans, start = self.tables(obs, hour)
        return (gamma * emit).sum() + (xi * trans).sum() + (gamma[0] * start).sum()


def night(length=60, seed=9):
    g = torch.Generator().manual_seed(seed)
    levels = torch.tensor([[0.0, 0.2, 0.1, 0.0], [1.5, 0.4, 0.2, 0.1], [0.8, 2.0, 1.4, 0.6]])
    s, rows = 0, []
    for _ in range(length):
        if torch.rand((), generator=g) < 0.12:
            s = int(torch.randint(3, (), generator=g))
        rows.append(levels[s] + 0.25 * torch.randn(4, generator=g))
    return torch.stack(rows), torch.linspace(-1, 1, length)


def em(model, obs, hour, iterations=6, m_steps=5):
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    for it in range(iterations):
        gamma, xi, evidence = model.posteriors(obs, hour)
        for _ in range(m_steps):
            loss = -model.expected_loglik(obs, hour, *model.posteriors(obs, hour)[:2]) / len(obs)
            opt.zero_grad()
            loss.backward()
            opt.step()
        occupancy = gamma.mean(0).tolist()
        print(f"EM {it}: log-evidence {evidence:8.2f}  occupancy "
              + " ".join(f"{o:.2f}" for o in occupancy))


if __name__ == "__main__":
    torch.manual_seed(2)
    em(TremorHMM(), *night())
