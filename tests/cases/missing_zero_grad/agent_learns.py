# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = self.optimizer
import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(n_obs, 16), nn.ReLU(), nn.Linear(16, n_act))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        self.saved, self.rewards = [], []

    def act(self, obs):
        d = Categorical(logits=self.policy(obs))
        a = d.sample()
        self.saved.append(d.log_prob(a))
        return a.item()

    def learn(self, gamma=0.98):
        returns, R = [], 0.0
        for r in reversed(self.rewards):
            R = r + gamma * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = torch.stack([-lp * g for lp, g in zip(self.saved, returns)]).sum()
        loss.backward()  # expect: place
        self.optimizer.step()  # expect: place
        self.saved.clear()
        self.rewards.clear()


torch.manual_seed(0)
agent = Agent(3, 2)
for episode in range(5):
    obs = torch.randn(3)
    for t in range(10):
        a = agent.act(obs)
        agent.rewards.append(1.0 if (obs.sum() > 0) == bool(a) else 0.0)
        obs = torch.randn(3)
    agent.learn()
    print("episode", episode)
