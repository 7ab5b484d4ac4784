"""One description of the microstructure, read by every property on the lab's sheet."""
import torch
from torch import nn

from data import ELEMENTS, SCHEDULE, batches, heats
from objectives import lab_sheet


class Microstructure(nn.Module):
    """Composition and schedule in, an unlabelled description of the steel out."""

    def __init__(self, width=24):
        super().__init__()
        self.mix = nn.Linear(len(ELEMENTS), width)
        self.plan = nn.Linear(len(SCHEDULE), width)
        self.blend = nn.Linear(width, width)

    def forward(self, x):
        mix, plan = x.split([len(ELEMENTS), len(SCHEDULE)], 1)
        gated = torch.tanh(self.mix(mix)) * torch.sigmoid(self.plan(plan))
        return torch.tanh(self.blend(gated))


class Foundry:
    def __init__(self, epochs=8, size=40):
        self.trunk = Microstructure()
        self.sheet = lab_sheet()
        self.optimizer = torch.optim.AdamW(self.trunk.parameters(), lr=5e-3, weight_decay=1e-3)
        self.epochs, self.size = epochs, size

    def fit(self, x, labels, test):
        for epoch in range(self.epochs):
            for batch, truth in batches(x, labels, self.size):
                self.optimizer.zero_grad()
                structure = self.trunk(batch)
                total = sum(wanted.learn(structure, truth[wanted.name]) for wanted in self.sheet)
                total.backward()
                for wanted in self.sheet:
                    wanted.optimizer.step()
                self.optimizer.step()
            if epoch % 2 == 1:
                print(f"epoch {epoch}: " + ", ".join(w.report() for w in self.sheet), self.score(*test))

    @torch.no_grad()
    def score(self, x, labels):
        structure = self.trunk(x)
        out = {}
        for wanted in self.sheet:
            guess, truth = wanted.predict(structure), labels[wanted.name]
            if wanted.name == "cracked":
                out[wanted.name] = round(((guess > 0) == truth.bool()).float().mean().item(), 3)
            else:
                out[wanted.name] = round((1 - (guess - truth).var() / truth.var()).item(), 3)
        return out


if __name__ == "__main__":
    torch.manual_seed(31)
    Foundry().fit(*heats(400, seed=1), test=heats(200, seed=2))
