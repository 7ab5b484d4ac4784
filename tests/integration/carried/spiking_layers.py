import torch
from torch import nn

class Spike(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.mem = None
    def forward(self, x):
        if self.mem is None:
            self.mem = torch.zeros(x.shape[0], self.fc.out_features)
        self.mem = 0.9 * self.mem + torch.tanh(self.fc(x)) * self.mem.cos()
        return torch.sigmoid(self.mem)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Spike(3, 5), Spike(5, 2))
    def forward(self, x):
        return self.layers(x)

def main():
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(5):
        loss = (net(torch.randn(4, 3)) - 0.5).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
