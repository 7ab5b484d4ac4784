import torch
import torch.nn as nn

torch.manual_seed(17)
steps_per_update, hidden_size = 3, 8
rnn = nn.RNNCell(2, hidden_size)
head = nn.Linear(hidden_size, 1)
opt = torch.optim.RMSprop(list(rnn.parameters()) + list(head.parameters()), lr=2e-3)

x = torch.randn(12, 10, 2)
y = x.prod(-1, keepdim=True)
h = torch.zeros(10, hidden_size)
pending = 0
for t in range(12):
    h = rnn(x[t], h.detach())
    pending = pending + nn.functional.huber_loss(head(h), y[t])
    if t % steps_per_update == steps_per_update - 1:
        opt.zero_grad()
        pending.backward()
        opt.step()
        h = h.detach()
        pending = pending.detach()
        print(t, pending.item())
