"""Force matching for a pair potential of argon clusters."""
import math

import torch

from physics import clusters
from potential import PairPotential, energy_and_forces


class Matcher:
    def __init__(self, potential, rho=0.9, lr=4e-2):
        self.potential = potential
        self.rho = rho
        self.optimizer = torch.optim.Adam(potential.parameters(), lr=lr)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=6)

    def loss(self, batch):
        positions, energy, forces = batch
        got_energy, got_forces = energy_and_forces(self.potential, positions)
        off_energy = (got_energy - energy).pow(2).mean() / positions.shape[1]
        off_forces = (got_forces - forces).pow(2).mean()
        return (1 - self.rho) * off_energy + self.rho * off_forces

    def epoch(self, data, size):
        total, order = 0.0, torch.randperm(len(data[0]))
        for rows in order.split(size):
            loss = self.loss([part[rows] for part in data])
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.potential.parameters(), 500.0)
            self.optimizer.step()
            total += loss.item() * len(rows) / len(order)
        self.schedule.step()
        return total

    def errors(self, data):
        energy, forces = energy_and_forces(self.potential, data[0])
        return [math.sqrt((got - want).pow(2).mean().item())
                for got, want in ((energy, data[1]), (forces, data[2]))]


def main():
    torch.manual_seed(18)
    gen = torch.Generator().manual_seed(18)
    train, test = clusters(192, gen), clusters(64, gen)
    offset = train[1].mean()
    train, test = [(p, e - offset, f) for p, e, f in (train, test)]
    matcher = Matcher(PairPotential())
    for epoch in range(6):
        total = matcher.epoch(train, 32)
        energy, forces = matcher.errors(test)
        print(f"epoch {epoch} loss {total:8.3f} rmse energy {energy:.3f} forces {forces:.3f}")


if __name__ == "__main__":
    main()
