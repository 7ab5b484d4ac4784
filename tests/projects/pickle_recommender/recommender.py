import torch
from torch import nn


class FM(nn.Module):
    def __init__(self, n_users, n_items, k=4):
        super().__init__()
        self.users = nn.Parameter(torch.rand(n_users, k))
        self.items = nn.Parameter(torch.rand(n_items, k))

    def forward(self, u, i):
        return (self.users[u] * self.items[i]).sum()

    def clip(self):
        self.users.clamp_(0, 1)
        self.items.clamp_(0, 1)
