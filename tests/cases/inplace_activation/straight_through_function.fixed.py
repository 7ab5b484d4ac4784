import torch
from torch import nn
from torch.autograd import Function


class QuantizeSTE(Function):
    @staticmethod
    def forward(ctx, x, levels):
        return x.mul(levels).round().div(levels)

    @staticmethod
    def backward(ctx, g):
        return g, None


class BitNet(nn.Module):
    def __init__(self, bits=3):
        super().__init__()
        self.levels = 2 ** bits - 1
        self.enc = nn.Linear(10, 20)
        self.dec = nn.Linear(20, 10)

    def forward(self, x):
        z = torch.sigmoid(self.enc(x))
        q = QuantizeSTE.apply(z, self.levels)
        return self.dec(q)


def run(steps=4):
    torch.manual_seed(7)
    net = BitNet()
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    data = torch.rand(64, 10)
    for s in range(steps):
        xb = data[torch.randperm(64)[:16]]
        rec = net(xb)
        loss = nn.functional.mse_loss(rec, xb)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        print("step", s, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    run()
