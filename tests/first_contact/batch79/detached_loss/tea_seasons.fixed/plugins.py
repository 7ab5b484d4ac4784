"""What a strategy calls at the moments of training."""
import torch
from torch.nn import functional as F


class Plugin:
    def before_backward(self, strategy):
        pass

    def after_backward(self, strategy):
        pass

    def after_season(self, strategy, batches):
        pass


class EwcPlugin(Plugin):
    """Elastic weight consolidation, one anchor a season."""

    def __init__(self, importance):
        self.importance = importance
        self.anchors = []  # (values, fisher) of every season so far

    def before_backward(self, strategy):
        if not self.anchors:
            return
        penalty = torch.zeros(())
        for values, fisher in self.anchors:
            for name, param in strategy.model.named_parameters():
                drift = param - values[name]
                penalty = penalty + (fisher[name] * drift.pow(2)).sum()
        strategy.loss = strategy.loss + self.importance * penalty

    def after_season(self, strategy, batches):
        model = strategy.model
        fisher = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
        count = 0
        for x, y in batches[:4]:
            for row, grade in zip(x, y):
                model.zero_grad()
                F.cross_entropy(model(row[None]), grade[None]).backward()
                for name, p in model.named_parameters():
                    fisher[name] += p.grad ** 2
                count += 1
        model.zero_grad()
        values = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.anchors.append((values, {name: f / count for name, f in fisher.items()}))


class LossCurve(Plugin):
    def __init__(self):
        self.points = []

    def after_backward(self, strategy):
        self.points.append(strategy.loss.item())

    def mean(self):
        recent = self.points[-10:]
        return sum(recent) / len(recent)
