import argparse
import json
import logging

import numpy as np
import torch
import wandb
from torch import nn

from forecast.cell import MemoryCell

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--mode", choices=["eval", "train"], required=True)
args = parser.parse_args()
logging.basicConfig(level=logging.INFO)
wandb.init(project="forecast", config=vars(args))

series = np.load(args.data + "/series.npy").astype(np.float32)
net = MemoryCell(series.shape[1], 16)
head = nn.Linear(16, series.shape[1])
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=args.lr)
if args.mode == "train":
    for step in range(len(series) - 1):
        x = torch.from_numpy(series[step : step + 1])
        y = torch.from_numpy(series[step + 1 : step + 2])
        loss = nn.functional.mse_loss(head(net(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        wandb.log({"loss": loss.item()})
