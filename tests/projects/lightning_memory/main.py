import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger

from data import SeriesData
from lit_model import LitForecaster

if __name__ == "__main__":
    pl.seed_everything(1)
    trainer = pl.Trainer(max_epochs=5, logger=TensorBoardLogger("logs"), callbacks=[ModelCheckpoint()])
    trainer.fit(LitForecaster(), SeriesData())
