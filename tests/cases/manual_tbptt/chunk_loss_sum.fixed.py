import torch
import torch.nn as nn

torch.manual_seed(3)
K = 4


class Smoother(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 10)
        self.fc = nn.Linear(10, 3)

    def step(self, x, hc):
        hc = self.cell(x, hc)
        return self.fc(hc[0]), hc


net = Smoother()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
sequence = torch.randn(25, 2, 3)
hc = (torch.zeros(2, 10), torch.zeros(2, 10))
losses = []

for t in range(len(sequence) - 1):
    pred, hc = net.step(sequence[t], hc)
    losses.append((pred - sequence[t + 1]).pow(2).mean())
    if (t + 1) % K == 0:
        window = torch.stack(losses[-2 * K :]).sum()
        optimizer.zero_grad()
        window.backward()
        optimizer.step()
        hc = tuple(s.detach() for s in hc)
        losses.clear()
        print(t, window.item())
