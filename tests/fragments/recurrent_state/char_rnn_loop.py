# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = hidden
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class CharRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(12, 16)
        self.out = nn.Linear(16, 12)

    def forward(self, x, h):
        y, h = self.rnn(x, h)
        return self.out(y), h

    def init_hidden(self, n):
        return torch.zeros(1, n, 16)


model = CharRNN()
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters())
batch_size = 4
n_epochs = 2
print_every = 1


def get_batches():
    for _ in range(3):
        yield torch.randn(5, 4, 12), torch.randn(5, 4, 12)


# paste: begin
hidden = model.init_hidden(batch_size)
for epoch in range(n_epochs):
    for inputs, targets in get_batches():
        optimizer.zero_grad()
        output, hidden = model(inputs, hidden)  # expect: place
        loss = criterion(output, targets)
        loss.backward()  # expect: place
        optimizer.step()
    if epoch % print_every == 0:
        print("epoch", epoch, loss.item())
# paste: end
