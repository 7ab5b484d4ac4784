import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def conv3(i, o):
    return nn.Conv2d(i, o, kernel_size=3, padding=1)


class TinyUNet(nn.Module):
    def __init__(self, base=4):
        super().__init__()
        self.inc = conv3(1, base)
        self.down = conv3(base, base * 2)
        self.mid = conv3(base * 2, base * 2)
        self.up = nn.ConvTranspose2d(base * 2, base, 2, stride=2)
        self.dec = conv3(base * 2, base)
        self.outc = nn.Conv2d(base, 2, 1)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        e1 = self.inc(x)
        e2 = self.act(self.down(F.max_pool2d(e1, 2)))
        m = self.act(self.mid(e2))
        u = self.up(m)
        skip = self.act(e1.data)
        d = self.act(self.dec(torch.cat([skip, u], dim=1)))
        return self.outc(d)


net = TinyUNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
images = torch.rand(2, 1, 16, 16)
masks = (images[:, 0] > 0.5).long()

for epoch in range(3):
    opt.zero_grad()
    logits = net(images)
    loss = F.cross_entropy(logits, masks)
    loss.backward()
    opt.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
