"""Tide gauge forecast in windows; a critic learns how much a window's loss depends on its entry memory."""
import torch
from torch import nn


def unroll(cell, head, inputs, memory):
    guesses = []
    for x in inputs:
        memory = cell(x, memory)
        guesses.append(head(memory))
    return torch.stack(guesses), memory


torch.manual_seed(33)
hours = torch.arange(97.0)
tide = torch.sin(hours[:, None] / torch.tensor([1.9, 2.3, 3.1])) + 0.05 * torch.randn(97, 3)
tide = tide[:, :, None]

cell, head, critic = nn.GRUCell(1, 8), nn.Linear(8, 1), nn.Linear(8, 8)
rnn_opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.2)
critic_opt = torch.optim.SGD(critic.parameters(), lr=0.2)

memory = torch.zeros(3, 8, requires_grad=True)
for start in range(0, 96, 12):
    guesses, last = unroll(cell, head, tide[start:start + 12], memory)
    loss = nn.functional.mse_loss(guesses, tide[start + 1:start + 13])

    (influence,) = torch.autograd.grad(loss, memory, retain_graph=True)
    critic_loss = (critic(memory.detach()) - influence).square().mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    total = loss if start == 0 else total + loss
    memory = last
    print(start, round(loss.item(), 4), round(critic_loss.item(), 6))
rnn_opt.zero_grad()
total.backward()
rnn_opt.step()
