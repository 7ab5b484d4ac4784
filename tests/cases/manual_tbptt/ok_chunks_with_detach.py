import torch
from torch import nn

torch.manual_seed(2)
rnn, head = nn.GRU(3, 8), nn.Linear(8, 3)
opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
signal = torch.randn(40, 4, 3)
h = torch.zeros(1, 4, 8)
for chunk, target in zip(signal[:-1].split(10), signal[1:].split(10)):
    h = h.detach()
    out, h = rnn(chunk, h)
    loss = (head(out) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
