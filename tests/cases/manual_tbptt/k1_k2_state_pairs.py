# expect: pattern = manual-tbptt
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = states
# Truncated backpropagation through time by hand: every k1 steps, walk k2 steps back.
import torch
from torch import nn

torch.manual_seed(0)
one_step_module = nn.GRUCell(4, 12)
readout = nn.Linear(12, 4)
loss_module = nn.MSELoss()
optimizer = torch.optim.SGD([*one_step_module.parameters(), *readout.parameters()], lr=0.05)
k1, k2 = 3, 5

inputs = torch.randn(18, 6, 4)
targets = inputs.roll(1, 0)
init_state = torch.zeros(6, 12)
states = [(None, init_state)]

for j, (inp, target) in enumerate(zip(inputs, targets)):
    state = states[-1][1].detach()
    state.requires_grad = True
    new_state = one_step_module(inp, state)
    output = readout(new_state)
    states.append((state, new_state))
    while len(states) > k2:
        del states[0]

    if (j + 1) % k1 == 0:
        loss = loss_module(output, target)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        for i in range(k2 - 1):
            if states[-i - 2][0] is None:
                break
            curr_grad = states[-i - 1][0].grad
            states[-i - 2][1].backward(curr_grad)  # expect: place
        optimizer.step()
