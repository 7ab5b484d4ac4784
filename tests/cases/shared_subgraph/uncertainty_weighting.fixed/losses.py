import torch
from torch import nn


class UncertaintyWeighting(nn.Module):
    """Learns a log variance for each task and weighs its loss by it."""

    def __init__(self, tasks):
        super().__init__()
        self.log_vars = nn.ParameterDict({task: nn.Parameter(torch.zeros(())) for task in tasks})

    def forward(self, task, prediction, target):
        log_var = self.log_vars[task]
        return torch.exp(-log_var) * nn.functional.mse_loss(prediction, target) + log_var
