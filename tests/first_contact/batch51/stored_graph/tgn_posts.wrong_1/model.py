from torch import nn
import torch


class LinkScorer(nn.Module):
    def __init__(self, mem_dim, feat_dim, hidden=24):
        super().__init__()
        self.embed = nn.Linear(mem_dim + feat_dim, hidden)
        self.out = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, state, features, src, dst):
        z = torch.tanh(self.embed(torch.cat([state, features], dim=1)))
        return self.out(torch.cat([z[src], z[dst]], dim=1)).squeeze(1)
