"""Aligning two photographs by a learned pyramid, whose levels were first written for display."""
import torch
import torch.nn.functional as F


def smooth(image, kernel):
    return F.conv2d(image, kernel.softmax(-1).softmax(-2), padding=2)


def pyramid(image, kernels):
    levels = []
    for kernel in kernels:
        image = F.avg_pool2d(smooth(image, kernel), 2)
        levels.append(image)
    return levels


def features(image, kernels):
    with torch.no_grad():
        levels = pyramid(image, kernels)
    return [level / (level.std() + 1e-5) for level in levels]


torch.manual_seed(3)
kernels = [torch.randn(1, 1, 5, 5, requires_grad=True) for _ in range(3)]
optimizer = torch.optim.SGD(kernels, lr=0.5)
photograph = torch.rand(2, 1, 32, 32)
for step in range(6):
    other = photograph.roll(step, -1) + 0.05 * torch.randn_like(photograph)
    pairs = zip(features(photograph, kernels), features(other, kernels))
    loss = sum(F.l1_loss(a, b) for a, b in pairs)
    optimizer.zero_grad()
    loss.requires_grad_()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
