# expect: pattern = none
"""PPO for the sluice of a reed bed: each rollout is walked for several epochs, in minibatches, by two optimizers."""
import torch
import torch.nn as nn
from torch.distributions import Normal


class ReedBed:
    """Keep the water near a level although rain comes and goes."""

    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.level = torch.randn(self.n)
        self.rain = torch.zeros(self.n)
        return self.observe()

    def observe(self):
        return torch.stack([self.level, self.rain], dim=1)

    def step(self, sluice):
        self.rain = 0.8 * self.rain + 0.3 * torch.randn(self.n)
        self.level = 0.95 * self.level + 0.3 * self.rain - 0.4 * torch.tanh(sluice)
        return self.observe(), -self.level.pow(2).clamp(max=4)


def mlp(out):
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, out))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = mlp(1), mlp(1)
        self.log_std = nn.Parameter(torch.tensor(-0.3))

    def policy(self, obs):
        return Normal(self.actor(obs).squeeze(-1), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class Rollout:
    FIELDS = ("obs", "action", "log_prob", "value", "reward")

    def __init__(self):
        self.steps = {name: [] for name in self.FIELDS}

    def add(self, **step):
        for name, value in step.items():
            self.steps[name].append(value)

    def finish(self, last_value, gamma=0.95, lam=0.9):
        data = {name: torch.stack(values) for name, values in self.steps.items()}
        advantage, running = torch.zeros_like(data["reward"]), torch.zeros_like(last_value)
        upcoming = last_value
        for t in reversed(range(len(advantage))):
            delta = data["reward"][t] + gamma * upcoming - data["value"][t]
            running = delta + gamma * lam * running
            advantage[t] = running
            upcoming = data["value"][t]
        data["returns"] = advantage + data["value"]
        data["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        return {name: value.flatten(0, 1) for name, value in data.items()}


@torch.no_grad()
def collect(env, agent, obs, length):
    rollout = Rollout()
    for _ in range(length):
        dist = agent.policy(obs)
        action = dist.sample()
        following, reward = env.step(action)
        rollout.add(obs=obs, action=action, log_prob=dist.log_prob(action), value=agent.value(obs), reward=reward)
        obs = following
    return obs, rollout.finish(agent.value(obs))


def update(agent, data, opt_actor, opt_critic, epochs=4, batch=32, clip=0.2):
    total_loss = 0.0
    for _ in range(epochs):
        for picked in torch.randperm(len(data["obs"])).split(batch):
            part = {name: value[picked] for name, value in data.items()}
            dist = agent.policy(part["obs"])
            ratio = (dist.log_prob(part["action"]) - part["log_prob"]).exp()
            surrogate = torch.min(
                ratio * part["advantage"], ratio.clamp(1 - clip, 1 + clip) * part["advantage"]
            )
            actor_loss = -surrogate.mean() - 0.01 * dist.entropy().mean()
            critic_loss = (agent.value(part["obs"]) - part["returns"]).pow(2).mean()

            opt_actor.zero_grad()
            actor_loss.backward()
            opt_actor.step()

            opt_critic.zero_grad()
            critic_loss.backward()
            opt_critic.step()
            total_loss += actor_loss.item() + critic_loss.item()
    return total_loss


def main():
    torch.manual_seed(27)
    env, agent = ReedBed(8), Agent()
    opt_actor = torch.optim.Adam([*agent.actor.parameters(), agent.log_std], lr=3e-3)
    opt_critic = torch.optim.Adam(agent.critic.parameters(), lr=3e-3)
    obs = env.reset()
    for iteration in range(3):
        obs, data = collect(env, agent, obs, length=16)
        loss = update(agent, data, opt_actor, opt_critic)
        print(f"{iteration}: reward {data['reward'].mean():.3f}, loss {loss:.3f}")


if __name__ == "__main__":
    main()
