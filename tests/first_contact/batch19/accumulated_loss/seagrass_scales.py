# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
# Seagrass meadow segmentation from drone tiles.
# Each tile is shown to the net at several sizes (multi-scale training).
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)

SCALES = [1.0, 0.75, 0.5]
CLASSES = ['sand', 'seagrass', 'rock']


class ConvBlock(nn.Module):
    def __init__(self, cin, cout):
        super(ConvBlock, self).__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.gn = nn.GroupNorm(4, cout)

    def forward(self, x):
        return F.leaky_relu(self.gn(self.conv(x)), 0.1)


class SmallSeg(nn.Module):
    def __init__(self, n_classes):
        super(SmallSeg, self).__init__()
        self.enc1 = ConvBlock(3, 8)
        self.enc2 = ConvBlock(8, 16)
        self.dec = ConvBlock(24, 8)
        self.head = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        b = F.interpolate(b, size=a.shape[-2:], mode='bilinear', align_corners=False)
        return self.head(self.dec(torch.cat([a, b], dim=1)))


def fake_tiles(n, size=24):
    """smooth random fields, the strongest one is the class"""
    fields = F.avg_pool2d(torch.randn(n, 3, size + 6, size + 6), 7, stride=1)
    mask = fields.argmax(1)
    colour = torch.tensor([[.9, .8, .5], [.1, .6, .2], [.4, .4, .4]])
    img = colour[mask].permute(0, 3, 1, 2) + 0.15 * torch.randn(n, 3, size, size)
    return img, mask


def dice(logits, mask):
    p = logits.softmax(1)
    t = F.one_hot(mask, len(CLASSES)).permute(0, 3, 1, 2).float()
    inter = (p * t).sum((0, 2, 3))
    return 1 - (2 * inter / (p.sum((0, 2, 3)) + t.sum((0, 2, 3)) + 1e-5)).mean()


net = SmallSeg(len(CLASSES))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=16)

tiles, masks = fake_tiles(24)
for epoch in range(2):
    order = torch.randperm(len(tiles))
    running_loss = 0.0
    for i in range(0, len(order), 6):
        img, mask = tiles[order[i:i + 6]], masks[order[i:i + 6]]
        optimizer.zero_grad()
        loss = 0
        for scale in SCALES:
            if scale != 1.0:
                x = F.interpolate(img, scale_factor=scale, mode='bilinear', align_corners=False)
            else:
                x = img
            logits = F.interpolate(net(x), size=mask.shape[-2:], mode='bilinear', align_corners=False)
            loss = loss + (F.cross_entropy(logits, mask) + dice(logits, mask)) / len(SCALES)  # expect: place
            loss.backward()  # expect: place
        optimizer.step()
        scheduler.step()
        running_loss += loss.item()
    print('epoch %d  loss %.4f  lr %.5f' % (epoch + 1, running_loss / 4, scheduler.get_last_lr()[0]))
