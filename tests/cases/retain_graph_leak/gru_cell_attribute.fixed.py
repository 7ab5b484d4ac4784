import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 6)
        self.out = nn.Linear(6, 1)
        self.h = torch.zeros(4, 6)

    def forward(self, x):
        self.h = self.h.detach()
        self.h = self.cell(x, self.h)
        return self.out(self.h)


def main():
    torch.manual_seed(0)
    net = Recurrent()
    grads = 0
    for i in range(8):
        loss = net(torch.randn(4, 3)).pow(2).mean()
        loss.backward()
        print(i, loss.item())


main()
