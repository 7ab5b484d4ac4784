import torch
import torch.nn.functional as F
from torch import nn, optim


class BoxHead(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.reg = nn.Conv2d(channels, 5, 1)

    def forward(self, img):
        raw = self.reg(F.relu(self.conv(img))).flatten(2).transpose(1, 2)
        xy, wh, obj = raw.split([2, 2, 1], dim=-1)
        wh = wh.clamp(max=4.0).exp()
        return torch.cat([xy.sigmoid(), wh], dim=-1), obj.squeeze(-1)


def main():
    torch.manual_seed(4)
    head = BoxHead()
    opt = optim.SGD(head.parameters(), lr=0.01)
    gt = torch.tensor([0.5, 0.5, 1.5, 2.0]).expand(2, 16, 4)
    for step in range(4):
        boxes, objectness = head(torch.rand(2, 3, 8, 8))
        loss = F.smooth_l1_loss(boxes, gt) + F.binary_cross_entropy_with_logits(objectness, torch.ones_like(objectness))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, f"{loss.item():.5f}")


main()
