"""Q-learning of a tower crane that must let its load down without swinging it.

Logged transitions of a clumsy operator, a dueling network, and a slowly following copy of it.
"""
import copy

import torch
import torch.nn.functional as F
from torch import nn

ACTIONS, GAMMA = 3, 0.95


def operator_log(count, generator):
    """State: trolley speed, load angle, load rate, height. Action: brake, hold, push."""
    state = torch.randn(count, 4, generator=generator)
    action = torch.randint(ACTIONS, (count,), generator=generator)
    push = (action - 1).float()
    speed = state[:, 0] + 0.3 * push
    rate = state[:, 2] - 0.3 * state[:, 1] - 0.2 * push
    angle = state[:, 1] + 0.3 * rate
    height = state[:, 3] - 0.05
    reward = -(angle ** 2) - 0.1 * speed ** 2
    after = torch.stack([speed, angle, rate, height], 1)
    return state, action, reward, after, (angle.abs() > 2.5).float()


class Dueling(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.advantage = nn.Linear(width, ACTIONS)

    def forward(self, state):
        h = self.body(state)
        advantage = self.advantage(h)
        return self.value(h) + advantage - advantage.mean(1, keepdim=True)


def bootstrap(online, slow, reward, after, over):
    """Target value, and how often the two networks would act alike."""
    choice = online(after).argmax(1).detach()
    values = 0.5 * (online(after) + slow(after).detach())
    best = values.gather(1, choice[:, None]).squeeze(1)
    agreement = (choice == slow(after).argmax(1)).float().mean()
    return reward + GAMMA * (1 - over) * best, agreement


def main():
    torch.manual_seed(21)
    log = operator_log(1024, torch.Generator().manual_seed(21))
    online = Dueling()
    slow = copy.deepcopy(online).requires_grad_(False)
    optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)
    for sweep in range(4):
        for rows in torch.randperm(1024).split(128):
            state, action, reward, after, over = (part[rows] for part in log)
            q = online(state).gather(1, action[:, None]).squeeze(1)
            target, agreement = bootstrap(online, slow, reward, after, over)
            loss = F.smooth_l1_loss(q, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for lagging, leading in zip(slow.parameters(), online.parameters()):
                    lagging.lerp_(leading, 0.05)
        print(f"sweep {sweep}: td loss {loss.item():.4f}, agreement {agreement.item():.2f}")


main()
