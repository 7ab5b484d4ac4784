# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = value_loss, values, loss
import torch
from torch import nn
from dataclasses import dataclass


@dataclass
class Step:
    value: torch.Tensor
    reward: float


def rollout(critic, length):
    state = torch.randn(3)
    steps = []
    for _ in range(length):
        steps.append(Step(critic(state).squeeze(), -state.abs().sum().item()))
        state = 0.8 * state + 0.2 * torch.randn(3)
    return steps


def critic_loss(steps, gamma=0.9):
    targets, future = [], 0.0
    for step in reversed(steps):
        future = step.reward + gamma * future
        targets.append(future)
    targets = torch.tensor(targets[::-1])
    values = torch.FloatTensor([step.value for step in steps])  # expect: place
    return (values - targets).pow(2).mean()


torch.manual_seed(11)
critic = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for episode in range(4):
    loss = critic_loss(rollout(critic, length=7))  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(episode, loss.item())
