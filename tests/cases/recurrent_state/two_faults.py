# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state, hidden
import torch
import torch.nn as nn

torch.manual_seed(44)
rnn = nn.GRU(3, 7)
proj = nn.Linear(7, 3)
opt = torch.optim.SGD([*rnn.parameters(), *proj.parameters()], lr=0.1)


def grad_norm_of(loss):
    loss.backward()
    return sum(p.grad.norm().item() for p in rnn.parameters())


hidden = torch.zeros(1, 4, 7)
norms = []
for step in range(4):
    x = torch.randn(6, 4, 3)
    out, hidden = rnn(x, hidden)  # expect: place
    loss = nn.functional.mse_loss(proj(out), x.roll(-1, 0))
    opt.zero_grad()
    loss.backward()  # expect: place
    if step == 3:
        norms.append(grad_norm_of(loss))
    opt.step()
