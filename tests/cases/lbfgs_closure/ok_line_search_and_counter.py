# expect: pattern = none
# A closure with everything inside, and state around it that holds numbers only.
import torch
from torch import nn


class Calibrator(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(()))
        self.bias = nn.Parameter(torch.zeros(4))

    def forward(self, logits):
        return logits / self.temperature + self.bias

    def calibrate(self, logits, labels):
        optimizer = torch.optim.LBFGS(self.parameters(), lr=0.5, max_iter=15, line_search_fn="strong_wolfe")
        trail = []

        def evaluate():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self(logits), labels)
            if loss.requires_grad:
                loss.backward()
            trail.append(loss.item())
            return loss

        for _ in range(2):
            optimizer.step(evaluate)
        return trail


torch.manual_seed(0)
scores = 3 * torch.randn(100, 4)
labels = torch.distributions.Categorical(logits=scores / 2).sample()
trail = Calibrator().calibrate(scores, labels)
print(len(trail), trail[0], trail[-1])
