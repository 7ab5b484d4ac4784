"""weeds between maize rows, 3 classes a pixel. Two pyramid levels are fused with learned non-negative weights"""
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_bn_relu(c_in, c_out, stride=1):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class FuseFeature(nn.Module):
    """fast normalised fusion in place of concat"""

    def __init__(self, channels, n_inputs=2, epsilon=1e-4):
        super(FuseFeature, self).__init__()
        self.epsilon = epsilon
        self.w1 = nn.Parameter(torch.ones(n_inputs, dtype=torch.float32), requires_grad=True)
        self.w_relu = nn.ReLU()
        self.conv = conv_bn_relu(channels, channels)

    def forward(self, low, high):
        high = F.interpolate(high, size=low.shape[-2:], mode="nearest")
        weight = self.w_relu(self.w1)
        weight = weight / (torch.sum(weight, dim=0) + self.epsilon)
        return self.conv(weight[0] * low + weight[1] * high)


class RowNet(nn.Module):
    def __init__(self, n_classes=3, c=8):
        super(RowNet, self).__init__()
        self.stage1 = conv_bn_relu(3, c)
        self.stage2 = conv_bn_relu(c, c, stride=2)
        self.stage3 = conv_bn_relu(c, c, stride=2)
        self.fuse_a = FuseFeature(c)
        self.fuse_b = FuseFeature(c)
        self.classifier = nn.Conv2d(c, n_classes, 1)

    def forward(self, x):
        p1 = self.stage1(x)
        p2 = self.stage2(p1)
        p3 = self.stage3(p2)
        p2 = self.fuse_a(p2, p3)
        p1 = self.fuse_b(p1, p2)
        return self.classifier(p1)


def field_images(n, size=16):
    label = torch.zeros(n, size, size, dtype=torch.long)
    label[:, :, 3::6] = 1
    weeds = torch.rand(n, size, size) > 0.93
    label[weeds] = 2
    colour = torch.tensor([[0.4, 0.3, 0.2], [0.2, 0.7, 0.2], [0.3, 0.6, 0.3]])
    return colour[label].permute(0, 3, 1, 2) + 0.05 * torch.randn(n, 3, size, size), label


def main():
    torch.manual_seed(2)
    net = RowNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 4.0]))
    net.train()
    for it in range(8):
        images, masks = field_images(4)
        optimizer.zero_grad()
        loss = criterion(net(images), masks)
        loss.backward()
        optimizer.step()
        print("[%d] loss %.4f  fusion %s" % (it, loss.item(), [round(v, 3) for v in net.fuse_a.w1.tolist()]))


if __name__ == "__main__":
    main()
