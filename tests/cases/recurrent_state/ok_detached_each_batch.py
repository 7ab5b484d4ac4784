import torch
import torch.nn as nn

torch.manual_seed(1)


def detach_state(state):
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(detach_state(s) for s in state)


lstm = nn.LSTM(5, 16, num_layers=2)
decoder = nn.Linear(16, 5)
optimizer = torch.optim.SGD([*lstm.parameters(), *decoder.parameters()], lr=0.1)
state = (torch.zeros(2, 4, 16), torch.zeros(2, 4, 16))
for _ in range(5):
    state = detach_state(state)
    x = torch.randn(7, 4, 5)
    out, state = lstm(x, state)
    loss = nn.functional.mse_loss(decoder(out), x.roll(-1, 0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
