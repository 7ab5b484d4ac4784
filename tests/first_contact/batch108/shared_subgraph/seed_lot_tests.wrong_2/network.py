import torch.nn as nn
import torch.nn.functional as F

TASKS = {
    "germinated": F.binary_cross_entropy_with_logits,
    "moisture": F.smooth_l1_loss,
    "fungus": F.binary_cross_entropy_with_logits,
}


class LotNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(18, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heads = nn.ModuleDict({task: nn.Linear(width, 1) for task in TASKS})

    def forward(self, texture):
        features = self.trunk(texture)
        return {task: head(features.detach()).squeeze(1) for task, head in self.heads.items()}


def losses(outputs, results, weights):
    return {task: weights[task] * loss(outputs[task], results[task]) for task, loss in TASKS.items()}
