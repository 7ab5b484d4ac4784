# expect: pattern = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = old_log_probs, advantages
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(7)
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
value_fn = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value_fn.parameters()], lr=1e-3)
EPOCHS, CLIP = 3, 0.2


def collect(n=20):
    states = torch.randn(n, 4)
    dist = Categorical(logits=policy(states))
    actions = dist.sample()
    rewards = (actions == states[:, :3].argmax(1)).float()
    return states, actions, rewards, dist.log_prob(actions)  # expect: place


for update in range(2):
    states, actions, rewards, old_log_probs = collect()  # expect: place
    with torch.no_grad():
        advantages = rewards - value_fn(states).squeeze(1)
    for _ in range(EPOCHS):
        dist = Categorical(logits=policy(states))
        ratio = torch.exp(dist.log_prob(actions) - old_log_probs)  # expect: place
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
        value_loss = nn.functional.mse_loss(value_fn(states).squeeze(1), rewards)
        loss = -surrogate.mean() + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
