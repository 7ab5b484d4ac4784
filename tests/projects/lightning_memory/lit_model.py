import pytorch_lightning as pl
import torch
from torch import nn


class LitForecaster(pl.LightningModule):
    def __init__(self, hidden=16, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)
        self.state = None

    def training_step(self, batch, batch_idx):
        x, y = batch
        out, self.state = self.lstm(x, self.state)
        loss = nn.functional.mse_loss(self.head(out[:, -1]), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
