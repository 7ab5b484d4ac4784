# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad
# expect: carrier = peak, points, found, loss, argmax, locate
"""Three landmarks of a vertebra on a lateral film, and the wedge angle that they span."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(512)
SIZE, MARKS, BATCH, EPOCHS = 20, 3, 8, 6
LAMBDA_ANGLE = 0.5


def film(n):
    """Bright corners of different shape on a noisy ground; landmarks are (x, y) in pixels."""
    base = torch.tensor([[5.0, 5.0], [14.0, 6.0], [9.0, 14.0]])
    marks = (base + 2.0 * torch.randn(n, MARKS, 2)).clamp(1, SIZE - 2).round()
    axis = torch.arange(SIZE).float()
    gx = axis.view(1, 1, 1, SIZE) - marks[..., 0].view(n, MARKS, 1, 1)
    gy = axis.view(1, 1, SIZE, 1) - marks[..., 1].view(n, MARKS, 1, 1)
    wide = torch.tensor([[1.0, 3.0], [3.0, 1.0], [2.0, 2.0]]).view(1, MARKS, 2, 1, 1)
    blobs = torch.exp(-gx**2 / wide[:, :, 0] - gy**2 / wide[:, :, 1])
    image = blobs.sum(1, keepdim=True) + 0.1 * torch.randn(n, 1, SIZE, SIZE)
    return image, marks


class Heatmaps(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.down = nn.Conv2d(1, c, 5, padding=2)
        self.body = nn.Conv2d(c, c, 5, padding=2)
        self.out = nn.Conv2d(c, MARKS, 1)

    def forward(self, x):
        x = F.relu(self.down(x))
        x = x + F.relu(self.body(x))
        return self.out(x)


def locate(heat):
    """(n, marks, h, w) -> (n, marks, 2)"""
    n, k, h, w = heat.shape
    peak = heat.view(n, k, -1).argmax(-1)  # expect: place
    return torch.stack([peak % w, peak // w], -1).float()  # expect: place


def wedge_angle(points):
    a = points[:, 1] - points[:, 0]
    b = points[:, 2] - points[:, 0]
    return torch.atan2(b[:, 1], b[:, 0]) - torch.atan2(a[:, 1], a[:, 0])


def landmark_loss(heat, marks):
    found = locate(heat)  # expect: place
    distance = F.smooth_l1_loss(found, marks)  # expect: place
    angle = (1 - torch.cos(wedge_angle(found) - wedge_angle(marks))).mean()
    return distance + LAMBDA_ANGLE * angle  # expect: place


def evaluate(net, images, marks):
    net.eval()
    with torch.no_grad():
        found = locate(net(images))
    net.train()
    radial = (found - marks).norm(dim=-1)
    degrees = (wedge_angle(found) - wedge_angle(marks)).abs().mean() * 180 / math.pi
    return radial.mean().item(), (radial < 2).float().mean().item(), degrees.item()


train_x, train_y = film(64)
test_x, test_y = film(24)
net = Heatmaps()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)

for epoch in range(EPOCHS):
    running = 0.0
    for i in range(0, len(train_x), BATCH):
        x, y = train_x[i : i + BATCH], train_y[i : i + BATCH]
        optimizer.zero_grad()
        loss = landmark_loss(net(x), y)  # expect: place
        loss.backward()  # expect: place
        optimizer.step()
        running += loss.item() * len(x)
    scheduler.step()
    mre, pck, deg = evaluate(net, test_x, test_y)
    print("epoch %d loss %.3f  MRE %.2f px  PCK@2 %.2f  angle %.1f deg" % (
        epoch, running / len(train_x), mre, pck, deg))
