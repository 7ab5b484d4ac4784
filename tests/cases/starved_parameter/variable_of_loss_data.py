# expect: pattern = starved-parameter
# expect: also = detached-loss
# expect: raises = nothing
# expect: carrier = loss
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(3)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 6))

    def forward(self, a, b):
        return self.branch(a), self.branch(b)


def contrastive_loss(za, zb, same, margin=1.0):
    d = (za - zb).pow(2).sum(1).clamp(min=1e-9).sqrt()
    loss = torch.mean(same * d.pow(2) + (1 - same) * torch.clamp(margin - d, min=0).pow(2))
    return Variable(loss.data, requires_grad=True)  # expect: place


net = Siamese()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(5):
    a = Variable(torch.randn(20, 12))
    same = (torch.rand(20) > 0.5).float()
    b = a * same.unsqueeze(1) + 0.1 * torch.randn(20, 12)
    loss = contrastive_loss(*net(a, b), same)  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print("epoch %d loss %.4f" % (epoch, loss.item()))
