# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = att, fuse, scores
"""Salient spots of leaf rust: score map -> soft top-k crop weights -> descriptor -> severity class."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpotDetector(nn.Module):
    """Score map, high where something sticks out from its surroundings."""

    def __init__(self, polish=True):
        super().__init__()
        self.smooth = nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
        self.fuse = nn.Conv2d(2, 1, kernel_size=3, padding=1)
        self.polish = polish

    def forward(self, x):
        local = self.smooth(x)
        peaky = F.softplus(x - local).mean(dim=1, keepdim=True)
        strong = (x / (x.max(dim=1, keepdim=True)[0] + 1e-6)).mean(dim=1, keepdim=True)
        att = F.relu(self.fuse(torch.cat([peaky, strong], dim=1)) + 0.5)  # expect: place
        if self.polish:
            # padding makes false maxima along the rim
            att[:, :, :, 0] = 0  # expect: place
            att[:, :, :, -1] = 0  # expect: place
            att[:, :, 0, :] = 0  # expect: place
            att[:, :, -1, :] = 0  # expect: place
        return att


class RustNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(inplace=True),
            nn.Conv2d(12, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )
        self.detector = SpotDetector()
        self.head = nn.Sequential(nn.Linear(16, 24), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(24, classes))

    def forward(self, img):
        f = self.stem(img)
        scores = self.detector(f)
        w = scores.flatten(2)
        w = w / (w.sum(dim=2, keepdim=True) + 1e-6)
        desc = (f.flatten(2) * w).sum(dim=2)
        return self.head(F.normalize(desc, dim=1)), scores


def fake_leaves(n):
    img = 0.1 * torch.rand(n, 3, 20, 20)
    severity = torch.randint(0, 4, (n,))
    for i in range(n):
        for _ in range(int(severity[i]) * 3):
            r, c = torch.randint(2, 18, (2,)).tolist()
            img[i, 0, r - 1:r + 2, c - 1:c + 2] += 0.7
    return img, severity


def train(args):
    torch.manual_seed(args["seed"])
    net = RustNet()
    opt = torch.optim.SGD(net.parameters(), lr=args["lr"], momentum=0.9, weight_decay=5e-4)
    for it in range(args["iters"]):
        img, severity = fake_leaves(args["batch"])
        logits, scores = net(img)
        loss = F.cross_entropy(logits, severity) + 1e-3 * scores.abs().mean()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
        if it % 4 == 0:
            acc = (logits.argmax(1) == severity).float().mean()
            print("iter %d  loss %.3f  acc %.2f" % (it, loss.item(), acc.item()))


if __name__ == "__main__":
    train({"seed": 3, "lr": 0.05, "iters": 12, "batch": 24})
