"""Where are the buoys? A network that answers with a set, trained with a matching."""
import torch
from torch import nn

from buoys import HYDROPHONES, soundings
from setloss import SetLoss


class SlotNet(nn.Module):
    def __init__(self, slots=4, width=32):
        super().__init__()
        self.slots = slots
        self.body = nn.Sequential(
            nn.Linear(2 * HYDROPHONES, width), nn.LayerNorm(width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
        )
        self.out = nn.Linear(width, slots * 3)

    def forward(self, echoes):
        raw = self.out(self.body(echoes)).view(-1, self.slots, 3)
        return torch.cat([torch.tanh(raw[..., :2]), raw[..., 2:]], -1)


class Experiment:
    def __init__(self, seed=6, lr=5e-3):
        torch.manual_seed(seed)
        self.echoes, self.sets = soundings(96)
        self.net = SlotNet()
        self.criterion = SetLoss()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr, weight_decay=1e-3)
        self.best = float("inf")

    def batches(self, size=24):
        for rows in torch.randperm(72).split(size):
            yield self.echoes[rows], [self.sets[i] for i in rows]

    def epoch(self):
        seen = []
        for echoes, sets in self.batches():
            predicted = self.net(echoes)
            loss, _ = self.criterion(predicted.detach(), sets)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            seen.append(loss.item())
        return sum(seen) / len(seen)

    @torch.no_grad()
    def check(self):
        loss, matched = self.criterion(self.net(self.echoes[72:]), self.sets[72:])
        used = torch.cat(matched).bincount(minlength=4).tolist()
        self.best = min(self.best, loss.item())
        return loss.item(), used


if __name__ == "__main__":
    run = Experiment()
    print("before", run.check())
    for epoch in range(5):
        print(epoch, round(run.epoch(), 4), run.check())
    print("best", round(run.best, 4))
