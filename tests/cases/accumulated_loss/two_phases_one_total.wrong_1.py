"""Each round trains the reader on some chunks, then the writer on others; both add to one total."""
import torch
from torch import nn


def train_round(reader, writer, opt_reader, opt_writer, chunks):
    error = torch.zeros(())
    for chunk in chunks[:2]:
        error += nn.functional.mse_loss(writer(reader(chunk)), chunk)
    opt_reader.zero_grad()
    opt_reader.step()
    for chunk in chunks[2:]:
        error += nn.functional.mse_loss(writer(reader(chunk)), chunk)
    opt_writer.zero_grad()
    error.backward()
    opt_writer.step()
    return error.item()


torch.manual_seed(12)
reader = nn.Sequential(nn.Linear(9, 5), nn.Softplus())
writer = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 9))
opt_reader = torch.optim.SGD(reader.parameters(), lr=0.05)
opt_writer = torch.optim.SGD(writer.parameters(), lr=0.1)
for turn in range(5):
    chunks = torch.rand(40, 9).split(10)
    print(turn, train_round(reader, writer, opt_reader, opt_writer, chunks))
