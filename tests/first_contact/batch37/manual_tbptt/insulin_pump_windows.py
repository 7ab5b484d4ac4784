# expect: pattern = manual-tbptt
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = states, new_state, k2, curr_grad
"""Glucose forecast from pump and sensor, one reading at a time. Backpropagation by hand over the last k2 steps
every k1 steps (the recipe from the forum)."""
import math

import torch
from torch import nn


class OneStep(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.cell = nn.GRUCell(n_in, n_hidden)
        self.head = nn.Linear(n_hidden, 1)

    def forward(self, inp, state):
        state = self.cell(inp, state)
        return self.head(state), state


class TBPTT:
    def __init__(self, one_step_module, loss_module, k1, k2, optimizer):
        self.one_step_module = one_step_module
        self.loss_module = loss_module
        self.k1 = k1
        self.k2 = k2
        self.retain_graph = k1 < k2
        self.optimizer = optimizer

    def train(self, input_sequence, init_state):
        states = [(None, init_state)]
        seen = []
        for j, (inp, target) in enumerate(input_sequence):
            state = states[-1][1].detach()
            state.requires_grad = True
            output, new_state = self.one_step_module(inp, state)
            states.append((state, new_state))

            while len(states) > self.k2 + 1:  # expect: place
                # Delete stuff that is too old
                del states[0]

            if (j + 1) % self.k1 == 0:
                loss = self.loss_module(output, target)

                self.optimizer.zero_grad()
                # backprop last module (keep graph only if they ever overlap)
                loss.backward(retain_graph=self.retain_graph)
                for i in range(self.k2):  # expect: place
                    # if we get all the way back to the "init_state", stop
                    if states[-i - 2][0] is None:
                        break
                    curr_grad = states[-i - 1][0].grad
                    states[-i - 2][1].backward(curr_grad, retain_graph=self.retain_graph)  # expect: place
                self.optimizer.step()
                seen.append(loss.item())
        return seen


def readings(length, people):
    """(carbs, insulin, glucose) now -> glucose in a quarter of an hour"""
    glucose = 6 + torch.randn(people, 1)
    gut = torch.zeros(people, 1)
    active = torch.zeros(people, 1)
    for t in range(length):
        meal = (torch.rand(people, 1) < 0.08).float() * 3
        dose = meal * 0.9 * torch.rand(people, 1)
        now = torch.cat([meal, dose, glucose / 10], 1)
        gut, active = 0.8 * gut + meal, 0.85 * active + dose
        glucose = glucose + 0.3 * gut - 0.35 * active + 0.1 * math.sin(t / 20) + 0.05 * torch.randn(people, 1)
        glucose = glucose.clamp(2.5, 20)
        yield now, glucose / 10


if __name__ == "__main__":
    torch.manual_seed(14)
    net = OneStep(3, 12)
    runner = TBPTT(net, nn.MSELoss(), k1=6, k2=6, optimizer=torch.optim.SGD(net.parameters(), lr=0.05))
    for epoch in range(2):
        losses = runner.train(readings(60, people=8), torch.zeros(8, 12))
        print("epoch", epoch, "first %.4f last %.4f" % (losses[0], losses[-1]))
