# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = output
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, dim, code):
        super().__init__()
        self.enc = nn.Linear(dim, code)
        self.dec = nn.Linear(code, dim)

    def forward(self, x):
        return self.dec(F.elu(self.enc(x)))


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--code", type=int, default=3)
    ap.add_argument("--iters", type=int, default=4)
    opt = ap.parse_args(argv or [])
    torch.manual_seed(8)
    ae = Autoencoder(10, opt.code)
    adam = torch.optim.Adam(ae.parameters(), lr=1e-2)
    x = torch.randn(50, 2) @ torch.randn(2, 10)
    for it in range(opt.iters):
        output = ae(x).data  # expect: place
        loss = F.mse_loss(output, x)  # expect: place
        adam.zero_grad()
        loss.backward()  # expect: place
        adam.step()
        print(it, loss.item())


if __name__ == "__main__":
    main()
