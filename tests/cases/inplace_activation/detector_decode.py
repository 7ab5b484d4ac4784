# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = y
"""Single-scale detector head on synthetic boxes."""
import argparse
import torch
import torch.nn as nn


class Detect(nn.Module):
    stride = 8

    def __init__(self, nc=3, anchors=((10, 13), (16, 30)), ch=16):
        super().__init__()
        self.nc, self.na, self.no = nc, len(anchors), nc + 5
        self.register_buffer("anchors", torch.tensor(anchors).float().view(1, -1, 1, 1, 2))
        self.m = nn.Conv2d(ch, self.no * self.na, 1)

    def forward(self, x):
        bs, _, ny, nx = x.shape
        y = self.m(x).view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
        grid = torch.stack((xv, yv), 2).view(1, 1, ny, nx, 2).float()
        y = y.sigmoid()  # expect: place
        y[..., 0:2] = (y[..., 0:2] * 2.0 - 0.5 + grid) * self.stride  # expect: place
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchors  # expect: place
        return y.view(bs, -1, self.no)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 16, 3, 2, 1)
        )
        self.head = Detect()

    def forward(self, img):
        return self.head(self.backbone(img))


def compute_loss(p, targets):
    box, obj, cls = p[..., :4], p[..., 4], p[..., 5:]
    tb, to, tc = targets
    lbox = nn.functional.smooth_l1_loss(box, tb)
    lobj = nn.functional.binary_cross_entropy(obj, to)
    lcls = nn.functional.binary_cross_entropy(cls, tc)
    return lbox * 0.05 + lobj + 0.5 * lcls


def main(opt):
    torch.manual_seed(opt.seed)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr, momentum=0.9)
    for epoch in range(opt.epochs):
        for _ in range(2):
            imgs = torch.rand(2, 3, 32, 32)
            n = 2 * 4 * 4
            targets = torch.rand(2, n, 4) * 32, torch.randint(0, 2, (2, n)).float(), torch.rand(2, n, 3).round()
            pred = model(imgs)
            loss = compute_loss(pred, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
