# expect: pattern = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = new_log_probs, dist, values
import torch
from torch import nn
from torch.distributions import Normal


class Agent(nn.Module):
    def __init__(self, obs=3, act=1):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs, 16), nn.Tanh(), nn.Linear(16, act))
        self.v = nn.Sequential(nn.Linear(obs, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_std = nn.Parameter(-0.5 * torch.ones(act))

    def dist(self, obs):
        return Normal(self.pi(obs), self.log_std.exp())


class PPO:
    def __init__(self, agent, epochs=3, clip=0.2, lr=3e-3):
        self.agent, self.epochs, self.clip = agent, epochs, clip
        self.optimizer = torch.optim.Adam(agent.parameters(), lr=lr)

    def update(self, obs, act, old_log_probs, returns):
        dist = self.agent.dist(obs)  # expect: place
        new_log_probs = dist.log_prob(act).sum(-1)  # expect: place
        values = self.agent.v(obs).squeeze(-1)  # expect: place
        for _ in range(self.epochs):
            adv = returns - values.detach()
            ratio = (new_log_probs - old_log_probs).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            pi_loss = -torch.min(ratio * adv, clipped * adv).mean()
            v_loss = (values - returns).pow(2).mean()
            self.optimizer.zero_grad()
            (pi_loss + 0.5 * v_loss).backward()  # expect: place
            self.optimizer.step()


torch.manual_seed(0)
agent = Agent()
ppo = PPO(agent)
for iteration in range(2):
    obs = torch.randn(32, 3)
    with torch.no_grad():
        act = agent.dist(obs).sample()
        logp = agent.dist(obs).log_prob(act).sum(-1)
    ppo.update(obs, act, logp, returns=-(act.squeeze(-1) - obs[:, 0]).abs())
