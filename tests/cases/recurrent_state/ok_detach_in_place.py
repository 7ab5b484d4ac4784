import torch
from torch import nn

torch.manual_seed(0)
lstm, out = nn.LSTM(3, 6), nn.Linear(6, 3)
opt = torch.optim.SGD([*lstm.parameters(), *out.parameters()], lr=0.1)
hidden = (torch.zeros(1, 2, 6), torch.zeros(1, 2, 6))
for x in torch.randn(5, 7, 2, 3):
    y, hidden = lstm(x, hidden)
    loss = nn.functional.mse_loss(out(y), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for h in hidden:
        h.detach_()
