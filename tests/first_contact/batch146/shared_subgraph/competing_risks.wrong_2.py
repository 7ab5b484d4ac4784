"""Cause-specific Cox models on one shared representation (relapse, toxicity, other death)."""
import json
from typing import Dict

import numpy as np
import torch
import torch.nn as nn

CAUSES = ["relapse", "toxicity", "other"]


def simulate_cohort(n, num_features, seed):
    rng = np.random.default_rng(seed)
    covariates = rng.normal(size=(n, num_features))
    effects = rng.normal(scale=0.7, size=(num_features, len(CAUSES)))
    hazards = np.exp(np.tanh(covariates) @ effects - 1.0)
    latent = rng.exponential(1.0 / hazards)
    censoring = rng.exponential(4.0, size=n)
    first = latent.argmin(axis=1)
    time = np.minimum(latent.min(axis=1), censoring)
    cause = np.where(latent.min(axis=1) <= censoring, first, -1)
    return (torch.tensor(covariates, dtype=torch.float32),
            torch.tensor(time, dtype=torch.float32), torch.tensor(cause))


def cox_nll(log_risk, time, event):
    """Breslow partial likelihood, without ties."""
    order = torch.argsort(time, descending=True)
    log_risk, event = log_risk[order], event[order]
    log_cumulative = torch.logcumsumexp(log_risk, dim=0)
    return -((log_risk - log_cumulative) * event).sum() / event.sum().clamp(min=1)


def concordance(log_risk, time, event):
    earlier = (time[:, None] < time[None, :]) & (event[:, None] > 0)
    agree = (log_risk[:, None] > log_risk[None, :]) & earlier
    return (agree.sum() / earlier.sum().clamp(min=1)).item()


class SharedTrunk(nn.Module):
    def __init__(self, num_features, width, p_drop=0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(num_features, width), nn.ELU(), nn.Dropout(p_drop),
            nn.Linear(width, width), nn.ELU())

    def forward(self, x):
        return self.layers(x)


class RiskHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(width, 8)
        self.out = nn.Linear(8, 1, bias=False)

    def forward(self, z):
        return self.out(torch.tanh(self.hidden(z))).squeeze(-1)


class CompetingRiskTrainer:
    def __init__(self, num_features, width=24, lr=5e-3, head_lr=1e-2):
        self.trunk = SharedTrunk(num_features, width)
        self.heads = nn.ModuleDict({cause: RiskHead(width) for cause in CAUSES})
        self.trunk_opt = torch.optim.Adam(self.trunk.parameters(), lr=lr, weight_decay=1e-4)
        self.head_opts = {c: torch.optim.Adam(h.parameters(), lr=head_lr) for c, h in self.heads.items()}
        self.history = []

    def zero_grad(self):
        self.trunk_opt.zero_grad()
        for opt in self.head_opts.values():
            opt.zero_grad()

    def train_epoch(self, x, time, cause, batch_size) -> Dict[str, float]:
        self.trunk.train()
        sums = dict.fromkeys(CAUSES, 0.0)
        batches = torch.randperm(len(x)).split(batch_size)
        for idx in batches:
            z = self.trunk(x[idx])
            self.zero_grad()
            for k, name in enumerate(CAUSES):
                event = (cause[idx] == k).float()
                loss = cox_nll(self.heads[name](z), time[idx], event)
                self.zero_grad()
                loss.backward(retain_graph=True)
                self.head_opts[name].step()
                sums[name] += loss.item()
            self.trunk_opt.step()
        return {name: total / len(batches) for name, total in sums.items()}

    def evaluate(self, x, time, cause) -> Dict[str, float]:
        self.trunk.eval()
        with torch.no_grad():
            z = self.trunk(x)
            return {name: concordance(self.heads[name](z), time, (cause == k).float())
                    for k, name in enumerate(CAUSES)}

    def fit(self, train, valid, epochs=4, batch_size=64):
        for epoch in range(epochs):
            losses = self.train_epoch(*train, batch_size)
            scores = self.evaluate(*valid)
            self.history.append({"epoch": epoch, "loss": losses, "c_index": scores})
            print(json.dumps(self.history[-1]))
        return self


if __name__ == "__main__":
    torch.manual_seed(21)
    covariates, time, cause = simulate_cohort(320, 10, seed=4)
    cut = 256
    trainer = CompetingRiskTrainer(num_features=10)
    trainer.fit((covariates[:cut], time[:cut], cause[:cut]), (covariates[cut:], time[cut:], cause[cut:]))
