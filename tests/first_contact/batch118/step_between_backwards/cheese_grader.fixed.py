"""Grade wheels of cheese from sensor readings; looks for flat minima (two passes a batch)."""

import torch
import torch.nn as nn


class FlatSeeker(torch.optim.Optimizer):
    """climb() goes to the worst place nearby, descend() comes back and takes the base step."""

    def __init__(self, params, base, rho=0.1, **options):
        super().__init__(params, dict(rho=rho, **options))
        self.base = base(self.param_groups, **options)

    @torch.no_grad()
    def climb(self):
        norm = torch.stack(
            [p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]
        ).norm()
        for group in self.param_groups:
            reach = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["away"] = p.grad * reach
                p.add_(self.state[p]["away"])
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                if "away" in self.state[p]:
                    p.sub_(self.state[p].pop("away"))
        self.base.step()
        self.zero_grad()


class Grader(nn.Module):
    def __init__(self, sensors=9, grades=4):
        super().__init__()
        self.nose = nn.Linear(sensors, 24)
        self.tongue = nn.Linear(24, 24)
        self.verdict = nn.Linear(24, grades)

    def forward(self, x):
        x = torch.relu(self.nose(x))
        x = torch.relu(self.tongue(x))
        return self.verdict(x)


class Trainer:
    def __init__(self, model, epochs):
        self.model = model
        self.epochs = epochs
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = FlatSeeker(
            model.parameters(), torch.optim.SGD, rho=0.1, lr=0.1, momentum=0.9
        )

    def train_batch(self, x, grade):
        loss = self.criterion(self.model(x), grade)
        loss.backward()
        self.optimizer.climb()

        loss_up = self.criterion(self.model(x), grade)
        loss_up.backward()
        self.optimizer.descend()
        return loss.item(), loss_up.item()

    def fit(self, wheels, grades, size=20):
        for epoch in range(self.epochs):
            here = there = 0.0
            for rows in torch.randperm(len(wheels)).split(size):
                low, high = self.train_batch(wheels[rows], grades[rows])
                here, there = here + low, there + high
            print(f"epoch {epoch + 1}/{self.epochs}  loss {here:.3f}  nearby {there:.3f}")


def dairy(count=80):
    wheels = torch.randn(count, 9)
    ripeness = wheels[:, 0] + 0.5 * wheels[:, 3] * wheels[:, 4]
    return wheels, torch.bucketize(ripeness, torch.tensor([-0.8, 0.0, 0.8]))


if __name__ == "__main__":
    torch.manual_seed(21)
    wheels, grades = dairy()
    Trainer(Grader(), epochs=3).fit(wheels, grades)
