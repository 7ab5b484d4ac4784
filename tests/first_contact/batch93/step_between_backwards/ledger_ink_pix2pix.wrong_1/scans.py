"""Made-up ledgers: strokes on the front, mirrored and faint strokes from the back."""
import torch


def strokes(n, size, count):
    sheet = torch.zeros(n, 1, size, size)
    for k in range(n):
        for _ in range(count):
            r, c = torch.randint(0, size - 5, (2,)).tolist()
            if torch.rand(1).item() < 0.5:
                sheet[k, 0, r, c:c + 5] = 1
            else:
                sheet[k, 0, r:r + 5, c] = 1
    return sheet


def make_scans(n, size=16):
    front, back = strokes(n, size, 5), strokes(n, size, 4).flip(-1)
    clean = 1 - 2 * front
    page = (clean - 0.6 * back + 0.05 * torch.randn_like(clean)).clamp(-1, 1)
    return page, clean
