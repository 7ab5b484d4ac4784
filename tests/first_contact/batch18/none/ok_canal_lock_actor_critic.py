# expect: pattern = none
"""A canal lock that learns when to open: the critic and a forecaster learn at every tick, the actor once an episode."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Lock:
    """Boats queue on two sides; every turn of the lock costs water."""

    def reset(self):
        self.queue = torch.randint(0, 4, (2,)).float()
        self.side, self.water = 0, 1.0
        return self.look()

    def look(self):
        return torch.tensor([*self.queue.tolist(), float(self.side), self.water]) / 4

    def turn(self, action):
        served = 0.0
        if action == 1:
            served = min(self.queue[self.side].item(), 3.0)
            self.queue[self.side] -= served
            self.side = 1 - self.side
            self.water = max(self.water - 0.1, 0.0)
        self.queue += torch.poisson(torch.tensor([0.4, 0.3]))
        self.queue.clamp_(max=8)
        self.water = min(self.water + 0.04, 1.0)
        cost = 0.1 * self.queue.sum().item() + (0.6 if self.water < 0.2 else 0.0)
        return self.look(), served - cost


class Keeper(nn.Module):
    """Policy with a memory of the ticks of this episode."""

    def __init__(self, hidden=24):
        super().__init__()
        self.cell = nn.GRUCell(4, hidden)
        self.head = nn.Linear(hidden, 2)

    def forward(self, seen, memory):
        memory = self.cell(seen[None], memory)
        return Categorical(logits=self.head(memory)[0]), memory


class Episode:
    """What the actor will be taught with, tick by tick."""

    def __init__(self):
        self.log_probs, self.advantages, self.entropies = [], [], []

    def keep(self, dist, action, advantage):
        self.log_probs.append(dist.log_prob(action))
        self.entropies.append(dist.entropy())
        self.advantages.append(advantage)

    def loss(self, bonus=0.01):
        advantages = torch.tensor(self.advantages)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        return -(torch.stack(self.log_probs) * advantages).mean() - bonus * torch.stack(self.entropies).mean()


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, n_out))


def descend(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(episodes=12, ticks=24, gamma=0.95):
    lock = Lock()
    actor, critic, forecast = Keeper(), mlp(4, 1), mlp(5, 4)
    opt_actor = torch.optim.Adam(actor.parameters(), lr=5e-3)
    opt_critic = torch.optim.Adam(critic.parameters(), lr=5e-3)
    opt_forecast = torch.optim.SGD(forecast.parameters(), lr=5e-2, momentum=0.9)
    for number in range(episodes):
        seen, memory, episode = lock.reset(), None, Episode()
        gained = 0.0
        for _ in range(ticks):
            dist, memory = actor(seen, memory)
            action = dist.sample()
            after, reward = lock.turn(action.item())

            guess = forecast(torch.cat([seen, action.float()[None]]))
            surprise = descend(opt_forecast, F.mse_loss(guess, after))

            with torch.no_grad():
                target = reward + 0.1 * surprise + gamma * critic(after)
            value = critic(seen)
            episode.keep(dist, action, (target - value).item())
            descend(opt_critic, F.smooth_l1_loss(value, target))
            seen = after
            gained += reward
        loss = descend(opt_actor, episode.loss())
        if number % 4 == 0:
            print(f"episode {number:2d}  reward {gained:7.2f}  actor {loss:.4f}")


if __name__ == "__main__":
    torch.manual_seed(21)
    main()
