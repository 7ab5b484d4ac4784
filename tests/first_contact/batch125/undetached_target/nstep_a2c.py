# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = advantages, values, policy_loss
"""Advantage actor-critic with n-step returns on a batch of small point-mass worlds."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(21)

N_ENVS, N_STEPS, GAMMA = 16, 5, 0.95


class PointMass:
    """Push left, wait or push right; stay close to the origin."""

    def __init__(self, n):
        self.state = torch.randn(n, 2)

    def step(self, action):
        position, velocity = self.state.unbind(-1)
        velocity = 0.9 * velocity + 0.2 * (action.float() - 1)
        position = position + 0.2 * velocity
        far = position.abs() > 3
        reward = -position.pow(2) - 5.0 * far.float()
        self.state = torch.stack([position, velocity], -1)
        self.state[far] = torch.randn(int(far.sum()), 2)
        return self.state.clone(), reward, far.float()


def mlp(n_out):
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, n_out))


actor, critic = mlp(3), mlp(1)
optimizer = torch.optim.RMSprop([*actor.parameters(), *critic.parameters()], lr=2e-3)
envs = PointMass(N_ENVS)
observation = envs.state.clone()

for update in range(40):
    log_probs, values, rewards, dones, entropies = [], [], [], [], []
    for _ in range(N_STEPS):
        policy = Categorical(logits=actor(observation))
        action = policy.sample()
        log_probs.append(policy.log_prob(action))
        entropies.append(policy.entropy())
        values.append(critic(observation).squeeze(-1))
        observation, reward, done = envs.step(action)
        rewards.append(reward)
        dones.append(done)

    with torch.no_grad():
        running = critic(observation).squeeze(-1)
    returns = []
    for reward, done in zip(reversed(rewards), reversed(dones)):
        running = reward + GAMMA * (1 - done) * running
        returns.insert(0, running)

    advantages = torch.stack(returns) - torch.stack(values)  # expect: place
    policy_loss = -(torch.stack(log_probs) * advantages).mean()  # expect: place
    value_loss = advantages.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * torch.stack(entropies).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if update % 10 == 0:
        print(f"{update}: reward {torch.stack(rewards).mean().item():.3f} value loss {value_loss.item():.3f}")
