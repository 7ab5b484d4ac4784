# The state goes through `.data`, an old idiom that cuts the history just as well.
import torch
from torch import nn

torch.manual_seed(0)
rnn, out = nn.RNN(4, 9, batch_first=True), nn.Linear(9, 4)
optimizer = torch.optim.SGD([*rnn.parameters(), *out.parameters()], lr=0.1)
memory = torch.zeros(1, 3, 9)
for segment in torch.randn(5, 3, 6, 4):
    y, memory = rnn(segment, memory)
    memory = memory.data
    loss = nn.functional.mse_loss(out(y), segment.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
