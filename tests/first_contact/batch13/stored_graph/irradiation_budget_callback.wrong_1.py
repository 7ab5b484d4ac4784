"""Irradiation plan under a budget for a sensitive organ: Lagrange multipliers raised by a callback after each step."""
import torch
import torch.nn.functional as F


class Callback:
    def on_start(self, trainer):
        pass

    def on_step_end(self, trainer):
        pass


class RaiseMultipliers(Callback):
    def __init__(self, rate):
        self.rate = rate

    def on_start(self, trainer):
        trainer.lam = torch.zeros(2)

    def on_step_end(self, trainer):
        trainer.lam = F.relu(trainer.lam + self.rate * trainer.excess)


class Progress(Callback):
    def on_step_end(self, trainer):
        if trainer.steps % 3 == 0:
            excess = [round(v, 3) for v in trainer.excess.tolist()]
            print(trainer.steps, round(trainer.loss.item(), 4), excess, trainer.lam.tolist())


class PlanTrainer:
    def __init__(self, beams, wanted, organs, limits, callbacks):
        self.weights = torch.full((beams.shape[1],), -1.0, requires_grad=True)
        self.opt = torch.optim.Adam([self.weights], lr=0.05)
        self.beams, self.wanted, self.organs, self.limits = beams, wanted, organs, limits
        self.callbacks, self.steps = callbacks, 0

    def fit(self, n):
        for c in self.callbacks:
            c.on_start(self)
        for _ in range(n):
            fluence = F.softplus(self.weights)
            misfit = (self.beams @ fluence - self.wanted).square().mean()
            self.excess = (self.organs @ fluence.detach()).square() - self.limits
            self.loss = misfit + (self.lam * self.excess).sum()
            self.opt.zero_grad()
            self.loss.backward()
            self.opt.step()
            self.steps += 1
            for c in self.callbacks:
                c.on_step_end(self)


torch.manual_seed(31)
trainer = PlanTrainer(torch.rand(40, 12), torch.full((40,), 2.0), 0.4 * torch.rand(2, 12), torch.tensor([0.3, 0.2]),
                      [RaiseMultipliers(0.5), Progress()])
trainer.fit(15)
