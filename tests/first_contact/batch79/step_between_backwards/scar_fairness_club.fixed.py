"""Severity of scars from skin measurements, blind to the clinic that measured.

A variational bound (CLUB) estimates how much the code tells of the clinic; the encoder is
trained to lower it, the estimator to keep up.
"""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Options:
    measures: int = 14
    code: int = 8
    clinics: int = 3
    leak_weight: float = 0.3
    encoder_lr: float = 2e-3
    estimator_lr: float = 5e-3
    steps: int = 120


class ClinicEstimator(nn.Module):
    """q(clinic | code), and the bound that it gives."""

    def __init__(self, code, clinics):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(code, 24), nn.ReLU(), nn.Linear(24, clinics))

    def likelihood(self, code, clinic):
        return -F.cross_entropy(self.net(code), clinic)

    def bound(self, code, clinic):
        logp = F.log_softmax(self.net(code), 1)
        paired = logp.gather(1, clinic[:, None]).mean()
        shuffled = logp[:, clinic].mean()
        return paired - shuffled


class Experiment:
    def __init__(self, options):
        self.o = options
        self.encoder = nn.Sequential(nn.Linear(options.measures, 32), nn.ELU(),
                                     nn.Linear(32, options.code))
        self.severity = nn.Linear(options.code, 1)
        self.estimator = ClinicEstimator(options.code, options.clinics)
        main = [*self.encoder.parameters(), *self.severity.parameters()]
        self.main_opt = torch.optim.Adam(main, lr=options.encoder_lr)
        self.estimator_opt = torch.optim.Adam(self.estimator.parameters(),
                                              lr=options.estimator_lr)

    def forward(self, x, clinic, severity):
        code = self.encoder(x)
        task = F.mse_loss(self.severity(code).squeeze(1), severity)
        leak = self.estimator.bound(code, clinic)
        return code, task, leak

    def keep_up(self, code, clinic):
        loss = -self.estimator.likelihood(code.detach(), clinic)
        self.estimator_opt.zero_grad()
        loss.backward()
        self.estimator_opt.step()
        return loss.item()

    def step(self, x, clinic, severity):
        code, task, leak = self.forward(x, clinic, severity)
        fit = self.keep_up(code, clinic)
        leak = self.estimator.bound(code, clinic)
        total = task + self.o.leak_weight * leak
        self.main_opt.zero_grad()
        total.backward()
        self.main_opt.step()
        return {"task": task.item(), "leak": leak.item(), "fit": fit}


def patients(o, generator, n=32):
    severity = torch.rand(n, generator=generator)
    clinic = torch.randint(o.clinics, (n,), generator=generator)
    x = 0.2 * torch.randn(n, o.measures, generator=generator)
    x[:, :6] += severity[:, None]
    x[:, 6:9] += F.one_hot(clinic, o.clinics)
    return x, clinic, severity


def main():
    torch.manual_seed(90)
    o = Options()
    experiment = Experiment(o)
    generator = torch.Generator().manual_seed(17)
    for step in range(o.steps):
        report = experiment.step(*patients(o, generator))
        if step % 40 == 39:
            print(step + 1, " ".join(f"{k}={v:.3f}" for k, v in report.items()))


if __name__ == "__main__":
    main()
