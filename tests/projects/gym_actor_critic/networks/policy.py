import torch.nn as nn


class Policy(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh())
        self.head = nn.Linear(32, n_actions)


class Critic(nn.Module):
    def __init__(self, n_obs, body):
        super().__init__()
        self.head = nn.Linear(32, 1)
