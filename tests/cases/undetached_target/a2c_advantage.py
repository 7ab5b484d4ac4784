# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = advantage, returns, values
import torch
from torch import nn, optim

torch.manual_seed(101)


def n_step_returns(rewards, values, gamma=0.9):
    out, running = [], values[-1]
    for r in reversed(rewards):
        running = r + gamma * running
        out.insert(0, running)
    return torch.stack(out)  # expect: place


actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optimizer = optim.RMSprop(actor.parameters(), lr=1e-3)
critic_optimizer = optim.RMSprop(critic.parameters(), lr=1e-3)

for update in range(3):
    states = torch.randn(6, 4)
    dist = torch.distributions.Categorical(logits=actor(states))
    actions = dist.sample()
    rewards = (actions == (states[:, 0] > 0).long()).float()
    values = critic(states).squeeze(-1)  # expect: place
    returns = n_step_returns(rewards[:-1], values)
    advantage = returns - values[:-1]  # expect: place
    critic_loss = nn.functional.smooth_l1_loss(values[:-1], returns.detach())
    actor_loss = -(dist.log_prob(actions)[:-1] * advantage).mean()  # expect: place

    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    actor_optimizer.zero_grad()
    actor_loss.backward()  # expect: place
    actor_optimizer.step()
