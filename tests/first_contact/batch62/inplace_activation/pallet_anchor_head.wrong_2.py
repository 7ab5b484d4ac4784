


"""Tiny anchor-based detector for pallets in a top-down camera image."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)

SIZE, STRIDE, KINDS = 32, 8, 2
ANCHORS = torch.tensor([[6.0, 6.0], [12.0, 8.0]])


def build_net():
    def block(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(b), nn.SiLU(inplace=True))

    return nn.Sequential(block(3, 12), block(12, 24), block(24, 24),
                         nn.Conv2d(24, len(ANCHORS) * (5 + KINDS), 1))


def scene_batch(n=6):
    """One pallet an image: (images, boxes as cx cy w h, kind)."""
    images = 0.1 * torch.randn(n, 3, SIZE, SIZE)
    wh = ANCHORS[torch.randint(0, len(ANCHORS), (n,))] * (0.8 + 0.4 * torch.rand(n, 2))
    centre = wh / 2 + torch.rand(n, 2) * (SIZE - 1 - wh)
    kind = torch.randint(0, KINDS, (n,))
    for img, (cx, cy), (w, h), k in zip(images, centre.tolist(), wh.tolist(), kind.tolist()):
        img[k, int(cy - h / 2):int(cy + h / 2) + 1, int(cx - w / 2):int(cx + w / 2) + 1] += 1.0
    return images, torch.cat([centre, wh], dim=1), kind


def make_decoder(anchors, stride):
    grids = {}

    def grid(h, w):
        if (h, w) not in grids:
            ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
            grids[h, w] = torch.stack([xs, ys], dim=-1).float()
        return grids[h, w]

    def decode(raw):
        b, _, h, w = raw.shape
        raw = raw.view(b, len(anchors), -1, h, w).permute(0, 1, 3, 4, 2)
        xy = raw[..., 0:2].sigmoid().detach()
        xy *= 2.0
        xy += grid(h, w) - 0.5
        xy *= stride
        wh = raw[..., 2:4].sigmoid().detach()
        wh *= 2
        wh = wh ** 2 * anchors[:, None, None]
        return torch.cat([xy, wh], dim=-1), raw[..., 4], raw[..., 5:]

    return decode


def iou(p, q):
    lo = torch.maximum(p[:, :2] - p[:, 2:] / 2, q[:, :2] - q[:, 2:] / 2)
    hi = torch.minimum(p[:, :2] + p[:, 2:] / 2, q[:, :2] + q[:, 2:] / 2)
    inter = (hi - lo).clamp(min=0).prod(dim=1)
    return inter / (p[:, 2:].prod(1) + q[:, 2:].prod(1) - inter + 1e-7)


def assign(boxes):
    """Cell and best anchor of each ground-truth box."""
    col, row = (boxes[:, :2] / STRIDE).long().unbind(1)
    ratio = boxes[:, None, 2:] / ANCHORS
    return torch.maximum(ratio, 1 / ratio).amax(2).argmin(1), row, col


def detection_loss(decoded, boxes, kind):
    pred, objectness, cls = decoded
    where = (torch.arange(len(boxes)), *assign(boxes))
    overlap = iou(pred[where], boxes)
    wanted = torch.zeros_like(objectness)
    wanted[where] = overlap.detach().clamp(min=0)
    return {"box": (1 - overlap).mean() + 0.02 * F.l1_loss(pred[where], boxes),
            "obj": F.binary_cross_entropy_with_logits(objectness, wanted),
            "cls": F.cross_entropy(cls[where], kind)}


def main(steps=10):
    net, decode = build_net(), make_decoder(ANCHORS, STRIDE)
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    for step in range(steps):
        images, boxes, kind = scene_batch()
        parts = detection_loss(decode(net(images)), boxes, kind)
        opt.zero_grad()
        sum(parts.values()).backward()
        opt.step()
        print(step, *(f"{k}={v.item():.3f}" for k, v in parts.items()))


if __name__ == "__main__":
    main()
