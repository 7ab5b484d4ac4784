# The running offset is only ever added: nothing behind it was saved, nothing is missing later.
import torch

torch.manual_seed(0)
gain = torch.nn.Parameter(torch.ones(4))
bias = torch.nn.Parameter(torch.zeros(4))
optimizer = torch.optim.SGD([gain, bias], lr=0.01)

for step in range(4):
    offset = torch.zeros(4)
    for _ in range(3):
        offset = offset + bias
    x = torch.randn(8, 4)
    loss = (x * gain + offset - 2 * x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
