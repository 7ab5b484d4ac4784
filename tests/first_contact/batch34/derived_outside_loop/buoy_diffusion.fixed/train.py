"""Diffusion on wave-buoy records."""
import torch
from torch import nn
from torch.utils.data import DataLoader

from data import BuoyRecords, raw_records
from diffusion import Denoiser, Diffusion


class Trainer:
    def __init__(self, diffusion, dataset, batch_size=16, lr=1e-3, num_steps=12, ema_decay=0.9):
        self.diffusion = diffusion
        self.loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)
        self.optimizer = torch.optim.Adam(diffusion.parameters(), lr=lr)
        self.num_steps = num_steps
        self.ema = {k: v.detach().clone() for k, v in diffusion.state_dict().items()}
        self.ema_decay = ema_decay

    def batches(self):
        while True:
            yield from self.loader

    def train(self):
        batches = self.batches()
        for step in range(self.num_steps):
            batch = next(batches)
            loss = self.diffusion(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for k, v in self.diffusion.state_dict().items():
                self.ema[k].lerp_(v, 1 - self.ema_decay)
            if step % 4 == 0:
                print(step, round(loss.item(), 4))


def main():
    torch.manual_seed(0)
    channels = 4
    adapter = nn.Conv1d(1, channels, kernel_size=1)
    dataset = BuoyRecords(raw_records(64), adapter)
    trainer = Trainer(Diffusion(Denoiser(channels)), dataset)
    trainer.train()


if __name__ == "__main__":
    main()
