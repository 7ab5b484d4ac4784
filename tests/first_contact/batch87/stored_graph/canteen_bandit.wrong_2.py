"""What the canteen should put first on the screen: a softmax bandit that learns off its own log."""
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class ReplayLog:
    def __init__(self, capacity):
        self.rows = deque(maxlen=capacity)

    def push(self, *row):
        self.rows.append(row)

    def sample(self, k):
        context, dish, sold, propensity = zip(*random.sample(self.rows, k))
        return torch.stack(context), torch.stack(dish), torch.tensor(sold), torch.stack(propensity)

    def __len__(self):
        return len(self.rows)


class MenuPolicy(nn.Module):
    def __init__(self, n_context, n_dishes, floor=0.05):
        super().__init__()
        self.score = nn.Linear(n_context, n_dishes)
        self.floor = floor

    def forward(self, context):
        probs = F.softmax(self.score(context), dim=-1)
        return (1 - self.floor) * probs + self.floor / probs.shape[-1]

    def serve(self, context):
        probs = self(context)
        dish = torch.multinomial(probs, 1).squeeze()
        return dish, probs[dish]


class Canteen:
    """Weather, weekday and hunger go in, whether the dish sold comes out."""

    def __init__(self, n_context=5, n_dishes=4):
        self.taste = torch.randn(n_context, n_dishes)
        self.n_context = n_context

    def guest(self):
        return torch.randn(self.n_context)

    def sells(self, context, dish):
        return float(torch.rand(()) < torch.sigmoid(context @ self.taste[:, dish]))


def update(policy, optimizer, log, batch_size, cap=4.0, beta=0.01):
    context, dish, sold, propensity = log.sample(batch_size)
    probs = policy(context)
    p = probs.gather(1, dish.unsqueeze(1)).squeeze(1)
    ratio = (p.detach() / propensity.detach()).clamp(max=cap)
    entropy = -(probs * probs.log()).sum(1).mean()
    loss = -(ratio * (sold - 0.5)).mean() - beta * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    random.seed(8)
    torch.manual_seed(8)
    canteen = Canteen()
    policy = MenuPolicy(canteen.n_context, 4)
    optimizer = torch.optim.Adagrad(policy.parameters(), lr=0.1)
    log = ReplayLog(200)
    sales = []
    for day in range(240):
        context = canteen.guest()
        dish, propensity = policy.serve(context)
        sold = canteen.sells(context, dish)
        log.push(context, dish, sold, propensity)
        sales.append(sold)
        if len(log) >= 32 and day % 4 == 0:
            update(policy, optimizer, log, 16)
        if day % 60 == 59:
            print(f"day {day + 1}: sold {sum(sales[-60:]) / 60:.2f}")


if __name__ == "__main__":
    main()
