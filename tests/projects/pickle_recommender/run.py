import pickle
import sys

import numpy as np
import torch
from loguru import logger
from prettytable import PrettyTable
from tqdm import trange

from recommender import FM

n_users, n_items = 40, 30
ratings = np.loadtxt("ratings.txt")
logger.info("loaded {} ratings", len(ratings))
model = FM(n_users, n_items)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
table = PrettyTable(["epoch", "loss"])
for epoch in trange(5):
    for row in ratings:
        user, item = int(abs(row[0]) * 10) % n_users, int(abs(row[1]) * 10) % n_items
        loss = (model(user, item) - float(row[2])) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.clip()
    table.add_row([epoch, loss.item()])
print(table)
