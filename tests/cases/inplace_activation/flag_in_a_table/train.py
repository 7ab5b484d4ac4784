# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = y
import torch
from torch import nn
from blocks import Residual

CFG = {"act": "elu", "act_args": {"inplace": True}, "channels": 4, "depth": 2, "lr": 1e-3}  # expect: place


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = cfg["channels"]
        self.stem = nn.Conv2d(1, c, 3, padding=1)
        self.body = nn.Sequential(*(Residual(c, cfg) for _ in range(cfg["depth"])))
        self.head = nn.Linear(c, 3)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


def main(cfg=CFG):
    torch.manual_seed(0)
    net = Net(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    for i in range(3):
        x, y = torch.randn(4, 1, 8, 8), torch.randint(0, 3, (4,))
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(i, loss.item())


if __name__ == "__main__":
    main()
