import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset


class SeriesData(pl.LightningDataModule):
    def setup(self, stage=None):
        series = torch.sin(torch.arange(0, 80, 0.1))
        x = series[:-20].unfold(0, 10, 1)
        self.train = TensorDataset(x.unsqueeze(-1)[:512], x[:512, -1:] * 0.9)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=32)
