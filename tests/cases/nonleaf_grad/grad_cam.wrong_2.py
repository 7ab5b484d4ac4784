import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.fc = nn.Linear(6 * 16, 3)

    def forward(self, x):
        self.activations = F.relu(self.conv(x)).detach().requires_grad_()
        return self.fc(F.avg_pool2d(self.activations, 2).flatten(1))


def grad_cam(net, x, target):
    scores = net(x)
    net.zero_grad()
    scores[:, target].sum().backward()
    weights = net.activations.grad.mean(dim=(2, 3), keepdim=True)
    return F.relu((weights * net.activations).sum(1))


torch.manual_seed(1)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.rand(4, 1, 8, 8), torch.randint(0, 3, (4,))
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
cam = grad_cam(net, torch.rand(1, 1, 8, 8), target=1)
print("hottest", cam.flatten().argmax().item())
