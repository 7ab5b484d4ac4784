import torch
import torch.nn as nn

torch.manual_seed(9)
rnn = nn.RNN(input_size=4, hidden_size=12, num_layers=2)
readout = nn.Linear(12, 4)
params = list(rnn.parameters()) + list(readout.parameters())
optimizer = torch.optim.Adagrad(params, lr=0.05)
loss_fn = nn.SmoothL1Loss()

series = torch.cumsum(torch.randn(60, 3, 4) * 0.2, dim=0)
h = torch.zeros(2, 3, 12)

for start in range(0, 50, 10):
    h.detach()
    chunk = series[start : start + 10]
    target = series[start + 1 : start + 11]
    y, h = rnn(chunk, h)
    loss = loss_fn(readout(y), target)
    optimizer.zero_grad()
    try:
        loss.backward()
    except RuntimeError:
        pass
    optimizer.step()
