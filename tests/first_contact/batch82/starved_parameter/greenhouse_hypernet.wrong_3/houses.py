import torch


class Houses:
    """Every house answers to its climate in its own way, which its traits tell."""

    def __init__(self, count, climate):
        self.count = count
        self.traits = torch.randn(count, 3)
        self.answer = torch.tanh(self.traits @ torch.randn(3, climate))

    def season(self, weeks=12):
        for traits, answer in zip(self.traits, self.answer):
            x = torch.randn(weeks, len(answer))
            yield traits, x, x @ answer + 0.05 * torch.randn(weeks)
