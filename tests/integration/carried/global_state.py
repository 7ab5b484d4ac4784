import torch
from torch import nn
torch.manual_seed(0)
rnn = nn.GRUCell(2, 3)
head = nn.Linear(3, 1)
opt = torch.optim.SGD(list(rnn.parameters()) + list(head.parameters()), lr=0.1)
hidden = torch.zeros(1, 3)

def step(x, y):
    global hidden
    hidden = rnn(x, hidden)
    loss = (head(hidden) - y) ** 2
    opt.zero_grad()
    loss.sum().backward()
    opt.step()
    return loss.item()

total = 0
for i in range(5):
    total += step(torch.randn(1, 2), torch.randn(1, 1))
print(total)
