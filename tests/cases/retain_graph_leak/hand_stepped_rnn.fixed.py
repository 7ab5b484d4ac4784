import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.RNN(2, 10)
readout = nn.Linear(10, 2)
parameters = [*rnn.parameters(), *readout.parameters()]
lr = 0.05

signal = torch.sin(torch.arange(0, 60, dtype=torch.float32) / 3)
signal = torch.stack([signal, signal.roll(5)], dim=1)
hidden = torch.zeros(1, 10)

for start in range(0, 48, 6):
    x, y = signal[start:start + 6], signal[start + 1:start + 7]
    output, hidden = rnn(x, hidden.detach())
    loss = nn.functional.mse_loss(readout(output), y)
    loss.backward()
    for p in parameters:
        p.data -= lr * p.grad
        p.grad = None
    print(f"{start:3d} {loss.item():.5f}")
