import torch
from torch import nn


class LIF(nn.Module):
    def __init__(self, n_in, n_out, T=6):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.T = T

    def forward(self, x):
        current = self.fc(x)
        spikes = torch.zeros(self.T, *current.shape)
        mem = torch.zeros_like(current)
        for t in range(self.T):
            mem = 0.9 * mem + current
            spikes[t] = torch.sigmoid(5 * (mem - 1))
            mem = mem * (1 - spikes[t])
        return spikes.mean(0)


torch.manual_seed(0)
net = LIF(4, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    rate = net(torch.rand(10, 4))
    loss = (rate - 0.3).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
