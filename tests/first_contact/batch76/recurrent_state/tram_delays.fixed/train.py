import torch
from torch import nn

from data import delays, windows
from model import DelayNet

CONFIG = dict(lines=8, minutes=121, stops=5, window=12, warmup=2, epochs=2, lr=5e-3)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = DelayNet(cfg["stops"])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.criterion = nn.SmoothL1Loss()
        self.carry = None

    def run_window(self, x, y):
        pred, self.carry = self.model(x, self.carry.detach())
        return self.criterion(pred, y)

    def update(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def train_epoch(self, series):
        self.carry = self.model.initial(series.size(0))
        losses = []
        for i, (x, y) in enumerate(windows(series, self.cfg["window"])):
            loss = self.run_window(x, y)
            if i < self.cfg["warmup"]:
                continue
            self.update(loss)
            losses.append(loss.item())
        return sum(losses) / len(losses)


def main():
    torch.manual_seed(4)
    series = delays(CONFIG["lines"], CONFIG["minutes"], CONFIG["stops"])
    trainer = Trainer(CONFIG)
    for epoch in range(CONFIG["epochs"]):
        print(epoch, round(trainer.train_epoch(series), 4))


if __name__ == "__main__":
    main()
