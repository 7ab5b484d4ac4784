# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = h0, c0
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

rnn = nn.LSTM(6, 8, batch_first=True)
fc = nn.Linear(8, 1)
opt = optim.SGD(list(rnn.parameters()) + list(fc.parameters()), lr=0.01)
EPOCH = 2
train_loader = [(torch.randn(4, 5, 6), torch.randn(4, 1)) for _ in range(3)]
loss_func = nn.MSELoss()
h0 = torch.zeros(1, 4, 8)
c0 = torch.zeros(1, 4, 8)
# paste: begin
for step in range(EPOCH):
    for b_x, b_y in train_loader:
        r_out, (h0, c0) = rnn(b_x, (h0, c0))  # expect: place
        prediction = fc(r_out[:, -1, :])
        loss = loss_func(prediction, b_y)
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
# paste: end
