# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = intersection, union, loss
import torch
from torch import nn, optim

from losses import iou_loss

torch.manual_seed(2)
net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 1))
optimizer = optim.Adam(net.parameters(), lr=1e-2)
for step in range(3):
    image = torch.rand(3, 1, 10, 10)
    mask = (image > 0.5).float()
    loss = iou_loss(torch.sigmoid(net(image)), mask)  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(step, loss.item())
