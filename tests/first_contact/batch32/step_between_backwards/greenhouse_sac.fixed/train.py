"""Heating and vents of a greenhouse, learned with soft actor-critic.

The same repository ran on torch 1.3; since the upgrade it stops at the first update.
"""
import random

import torch

from agent import SacAgent


class Greenhouse:
    """Temperature and humidity drift with the weather; heat and vents push them back."""

    obs_dim, act_dim = 4, 2

    def reset(self):
        self.t = 0
        self.state = torch.tensor([18.0, 0.7])
        return self._obs()

    def _obs(self):
        hour = torch.tensor(self.t / 24 * 6.283)
        return torch.cat([(self.state - torch.tensor([20.0, 0.6])) / torch.tensor([5.0, 0.2]),
                          torch.stack([hour.sin(), hour.cos()])])

    def step(self, action):
        heat, vent = action.tolist()
        outside = 12 + 6 * self._obs()[2].item()
        temp, humid = self.state.tolist()
        temp += 0.2 * (outside - temp) * (1 + 0.5 * vent) + 1.5 * (heat + 1)
        humid += 0.05 * (0.8 - humid) - 0.05 * vent * (humid - 0.4)
        self.state = torch.tensor([temp, humid])
        self.t += 1
        reward = -abs(temp - 22) / 5 - abs(humid - 0.6) - 0.1 * (heat + 1)
        return self._obs(), reward, self.t >= 24


def main():
    random.seed(6)
    torch.manual_seed(6)
    env = Greenhouse()
    agent = SacAgent(env.obs_dim, env.act_dim)
    memory, updates = [], 0

    for episode in range(3):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            with torch.no_grad():
                action = agent.policy.sample(obs[None])[0][0]
            next_obs, reward, done = env.step(action)
            memory.append((obs, action, torch.tensor([reward]), next_obs, torch.tensor([float(done)])))
            obs, total = next_obs, total + reward
            if len(memory) >= 32:
                batch = [torch.stack(part) for part in zip(*random.sample(memory, 32))]
                q_loss, policy_loss = agent.learn(batch)
                updates += 1
        print(f"episode {episode}: return {total:.2f} after {updates} updates")


if __name__ == "__main__":
    main()
