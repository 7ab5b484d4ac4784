"""Fit a damped oscillator's constants with L-BFGS through a leapfrog integrator."""
import math

import torch

TRUE = {"k": 3.0, "c": 0.25, "x0": 1.2}


class Oscillator(torch.nn.Module):
    def __init__(self, k=1.5, c=0.6, x0=0.5):
        super().__init__()
        self.log_k = torch.nn.Parameter(torch.tensor(k).log())
        self.log_c = torch.nn.Parameter(torch.tensor(c).log())
        self.x0 = torch.nn.Parameter(torch.tensor(x0))

    def constants(self):
        return {"k": self.log_k.exp().item(), "c": self.log_c.exp().item(), "x0": self.x0.item()}

    def forward(self, steps, dt):
        k, c = self.log_k.exp(), self.log_c.exp()
        x, v = self.x0, torch.zeros(())
        xs = [x]
        for _ in range(steps - 1):
            half = v + 0.5 * dt * (-k * x - c * v)
            x = x + dt * half
            v = (half - 0.5 * dt * k * x) / (1 + 0.5 * dt * c)
            xs.append(x)
        return torch.stack(xs)


def observe(steps, dt, noise=0.01):
    with torch.no_grad():
        return Oscillator(**TRUE)(steps, dt) + noise * torch.randn(steps)


class Fitter:
    def __init__(self, model, data, dt):
        self.model, self.data, self.dt = model, data, dt
        self.optimizer = torch.optim.LBFGS(
            model.parameters(), lr=0.5, max_iter=1)
        self.evaluations = 0

    def objective(self):
        residual = self.model(len(self.data), self.dt) - self.data
        return residual.pow(2).mean()

    def round(self):
        self.optimizer.zero_grad()
        loss = self.objective()

        def closure():
            self.evaluations += 1
            loss.backward()
            return loss

        return self.optimizer.step(closure).item()


def main():
    torch.manual_seed(19)
    fitter = Fitter(Oscillator(), observe(40, 0.08), 0.08)
    for r in range(4):
        value = fitter.round()
        print(f"round {r}: {math.sqrt(value):.4f} after {fitter.evaluations} evaluations")
    print({k: round(v, 3) for k, v in fitter.model.constants().items()})


main()
