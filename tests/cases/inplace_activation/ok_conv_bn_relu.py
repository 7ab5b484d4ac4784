# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)


class BasicBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv1 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(ch)
        self.conv2 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(ch)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        residual = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += residual
        return self.relu(out)


net = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), BasicBlock(6), BasicBlock(6), nn.Flatten(), nn.Linear(6 * 64, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(3):
    x, y = torch.randn(5, 3, 8, 8), torch.randint(0, 4, (5,))
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
