# Mixed precision with gradient accumulation; the last micro-batch of a step is walked again.
import argparse
import contextlib

import torch
from torch import nn
from torch.utils.data import DataLoader


class Regression(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 7)
        self.y = self.x.cumsum(1)[:, -1:]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "y": self.y[i]}


def collate(items):
    return {key: torch.stack([item[key] for item in items]) for key in items[0]}


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--accum", type=int, default=3)
    p.add_argument("--amp", action="store_true")
    p.add_argument("--epochs", type=int, default=2)
    return p.parse_args([])


class Runner:
    def __init__(self, args):
        self.args = args
        self.model = nn.Sequential(nn.Linear(7, 20), nn.Mish(), nn.Linear(20, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        self.scaler = torch.amp.GradScaler("cpu", enabled=args.amp)

    def autocast(self):
        if not self.args.amp:
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def micro_step(self, batch):
        with self.autocast():
            loss = nn.functional.smooth_l1_loss(self.model(batch["x"]), batch["y"])
        self.scaler.scale(loss / self.args.accum).backward()
        return loss

    def flush(self, loss):
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def fit(self, loader):
        for epoch in range(self.args.epochs):
            for i, batch in enumerate(loader):
                loss = self.micro_step(batch)
                if (i + 1) % self.args.accum == 0:
                    self.flush(loss)
            print(f"[{epoch}] {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    Runner(get_args()).fit(DataLoader(Regression(48), batch_size=8, collate_fn=collate))
