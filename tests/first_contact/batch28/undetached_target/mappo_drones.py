# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = advantages, values, returns
from types import SimpleNamespace as SN

import torch as th
import torch.nn as nn
import torch.nn.functional as F


class RNNAgentLike(nn.Module):
    """shared by all drones, the id is appended to the observation"""

    def __init__(self, args):
        super().__init__()
        self.fc1 = nn.Linear(args.obs + args.n_agents, args.hidden)
        self.fc2 = nn.Linear(args.hidden, args.n_actions)

    def forward(self, obs):
        return self.fc2(F.relu(self.fc1(obs)))


class CentralCritic(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(args.obs * args.n_agents, args.hidden), nn.Tanh(), nn.Linear(args.hidden, 1))

    def forward(self, batch):
        joint = batch["obs"].flatten(2)
        v = self.net(joint)
        return v.expand(-1, -1, batch["obs"].shape[2])


def episode_batch(args, agent, eps=12, T=6):
    obs = th.randn(eps, T + 1, args.n_agents, args.obs)
    ids = th.eye(args.n_agents).expand(eps, T + 1, -1, -1)
    with th.no_grad():
        pi = th.distributions.Categorical(logits=agent(th.cat([obs, ids], -1)))
        actions = pi.sample()
        old = pi.log_prob(actions)
    goal = obs[..., 0] > 0
    reward = (goal == (actions == 1)).float().mean(-1)[:, :-1]
    return {"obs": obs, "ids": ids, "actions": actions, "old_log_pac": old, "reward": reward}


def build_gae_targets(rewards, values, gamma, lam):
    B, T = rewards.shape
    adv = [None] * T
    last = th.zeros_like(values[:, 0])
    for t in reversed(range(T)):
        delta = rewards[:, t, None] + gamma * values[:, t + 1] - values[:, t]
        last = delta + gamma * lam * last
        adv[t] = last
    adv = th.stack(adv, dim=1)
    return adv, adv + values[:, :-1]


class PPOLearner:
    def __init__(self, args):
        self.args = args
        self.mac = RNNAgentLike(args)
        self.critic = CentralCritic(args)
        self.params = list(self.mac.parameters()) + list(self.critic.parameters())
        self.optimiser = th.optim.Adam(self.params, lr=args.lr)

    def train(self, batch, t_env):
        a = self.args
        values = self.critic(batch)  # expect: place
        advantages, returns = build_gae_targets(batch["reward"], values, a.gamma, a.lam)  # expect: place
        returns = returns.detach()
        if a.norm_adv:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)  # expect: place
        old = batch["old_log_pac"][:, :-1]

        for _ in range(a.mini_epochs):
            logits = self.mac(th.cat([batch["obs"], batch["ids"]], -1))[:, :-1]
            pi = th.distributions.Categorical(logits=logits)
            ratios = (pi.log_prob(batch["actions"][:, :-1]) - old).exp()
            surr1 = ratios * advantages  # expect: place
            surr2 = ratios.clamp(1 - a.eps_clip, 1 + a.eps_clip) * advantages  # expect: place
            actor_loss = -th.min(surr1, surr2).mean() - a.entropy * pi.entropy().mean()

            new_values = self.critic(batch)[:, :-1]
            critic_loss = (returns - new_values).pow(2).mean()

            loss = actor_loss + 0.5 * critic_loss
            self.optimiser.zero_grad()
            loss.backward()  # expect: place
            grad_norm = nn.utils.clip_grad_norm_(self.params, a.grad_norm_clip)
            self.optimiser.step()
        print(t_env, "actor %.4f critic %.4f norm %.3f" % (actor_loss.item(), critic_loss.item(), grad_norm.item()))


def run_sequential(args):
    learner = PPOLearner(args)
    for t_env in range(args.t_max):
        learner.train(episode_batch(args, learner.mac), t_env)


if __name__ == "__main__":
    th.manual_seed(2)
    run_sequential(SN(n_agents=3, obs=5, n_actions=3, hidden=16, lr=3e-3, gamma=0.97, lam=0.9, eps_clip=0.2,
                      entropy=0.01, grad_norm_clip=5.0, mini_epochs=3, t_max=4, norm_adv=True))
