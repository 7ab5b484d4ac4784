# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
# expect: carrier = losses, loss
"""Swarming or not from hive sound bands; every bee yard trains at home (federated averaging)."""
import torch
from torch import nn

from client import Client
from server import Server


def hive_sounds(n, shift):
    swarm = torch.randint(0, 2, (n,))
    bands = torch.randn(n, 10) + shift
    bands[:, 3:5] += 1.5 * swarm.unsqueeze(1)
    return bands, swarm


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
    yards = [
        Client("yard%d" % i, hive_sounds(64, 0.3 * torch.randn(10)), model, lr=0.1, local_epochs=1) for i in range(5)
    ]
    server = Server(model, yards, per_round=3, seed=3)
    server.run(rounds=3)


if __name__ == "__main__":
    main()
