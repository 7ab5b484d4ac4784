import torch
from torch import nn
from torch.distributions import Bernoulli


class Reinforce:
    def __init__(self, obs_dim, lr=1e-2, gamma=0.95):
        self.net = nn.Sequential(nn.Linear(obs_dim, 12), nn.Tanh(), nn.Linear(12, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.gamma = gamma
        self.policy_loss = torch.zeros(())
        self.rewards, self.log_probs = [], []

    def act(self, obs):
        dist = Bernoulli(logits=self.net(obs).squeeze(-1))
        a = dist.sample()
        self.log_probs.append(dist.log_prob(a))
        return a

    def finish_episode(self):
        ret = 0.0
        for r, logp in zip(reversed(self.rewards), reversed(self.log_probs)):
            ret = r + self.gamma * ret
            self.policy_loss = self.policy_loss - logp * ret
        self.opt.zero_grad()
        self.policy_loss.backward(retain_graph=True)
        self.opt.step()
        self.rewards.clear()
        self.log_probs.clear()


torch.manual_seed(33)
agent = Reinforce(3)
for episode in range(3):
    obs = torch.randn(3)
    for _ in range(5):
        a = agent.act(obs)
        agent.rewards.append(float(a == (obs.sum() > 0)))
        obs = torch.randn(3)
    agent.finish_episode()
    print("episode", episode, "loss", agent.policy_loss.item())
