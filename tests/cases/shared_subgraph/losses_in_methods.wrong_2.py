import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.heads = nn.ModuleDict({"cls": nn.Linear(16, 3), "reg": nn.Linear(16, 1)})


class Experiment:
    def __init__(self):
        self.net = MultiTask()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-3)

    def classification(self, feats, y):
        loss = nn.functional.cross_entropy(self.net.heads["cls"](feats), y)
        loss.backward()
        return loss.item()

    def regression(self, feats, t):
        loss = nn.functional.mse_loss(self.net.heads["reg"](feats), t)
        loss.backward()
        return loss.item()

    def train_batch(self, x, y, t):
        self.opt.zero_grad()
        feats = self.net.trunk(x)
        a = self.classification(feats, y)
        b = self.regression(feats.detach(), t)
        self.opt.step()
        return a, b


torch.manual_seed(0)
exp = Experiment()
for _ in range(4):
    print(exp.train_batch(torch.randn(5, 8), torch.randint(0, 3, (5,)), torch.randn(5, 1)))
