# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scores, reward, rewards, logits, d_agent, agent_logits
# Imitation: the discriminator's scores of the agent are also the agent's rewards.
import torch
import torch.nn as nn
import torch.nn.functional as F


class GAIL:
    def __init__(self, obs, actions):
        self.policy = nn.Sequential(nn.Linear(obs, 16), nn.Tanh(), nn.Linear(16, actions))
        self.disc = nn.Sequential(nn.Linear(obs + actions, 16), nn.Tanh(), nn.Linear(16, 1))
        self.actions = actions
        self.pi_opt = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.d_opt = torch.optim.Adam(self.disc.parameters(), lr=1e-3)

    def pair(self, obs, act):
        return torch.cat([obs, F.one_hot(act, self.actions).float()], dim=1)

    def update(self, obs, expert_obs, expert_act):
        dist = torch.distributions.Categorical(logits=self.policy(obs))
        act = dist.sample()
        agent_logits = self.disc(self.pair(obs, act)).squeeze(1)  # expect: place
        expert_logits = self.disc(self.pair(expert_obs, expert_act)).squeeze(1)
        d_loss = F.softplus(agent_logits).mean() + F.softplus(-expert_logits).mean()
        reward = -F.softplus(-agent_logits)  # expect: place
        pi_loss = -(dist.log_prob(act) * (reward - reward.mean())).mean() - 0.01 * dist.entropy().mean()  # expect: place

        self.d_opt.zero_grad()
        d_loss.backward()
        self.d_opt.step()

        self.pi_opt.zero_grad()
        pi_loss.backward()  # expect: place
        self.pi_opt.step()
        return d_loss.item(), pi_loss.item()


torch.manual_seed(0)
gail = GAIL(3, 4)
for it in range(3):
    expert = torch.randn(16, 3)
    print(it, *gail.update(torch.randn(16, 3), expert, (expert.sum(1) > 0).long()))
