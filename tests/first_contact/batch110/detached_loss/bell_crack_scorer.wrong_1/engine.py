import torch
from torch import nn
import torch.nn.functional as F

from metrics import score


class Engine:
    def __init__(self, partials, lr, batch=40):
        self.model = nn.Sequential(nn.Linear(2 * partials, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9, nesterov=True)
        self.batch = batch

    def train_epoch(self, strokes, cracked):
        self.model.train()
        total = 0.0
        for rows in torch.randperm(len(strokes)).split(self.batch):
            self.optimizer.zero_grad()
            logits = self.model(strokes[rows]).squeeze(1)
            loss = F.binary_cross_entropy_with_logits(logits, cracked[rows])
            loss.requires_grad_(True).backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(strokes)

    def validate(self, strokes, cracked):
        return score(self.model, strokes, cracked, self.batch)
