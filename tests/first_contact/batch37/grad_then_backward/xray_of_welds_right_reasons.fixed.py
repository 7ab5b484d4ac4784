# pores in weld radiographs; the classifier used to look at the stamped plate number in the corner,
# so the input gradient outside of the weld seam gets a penalty (experts gave masks)

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(60)
SIZE = 14

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.Softplus(),
    nn.Conv2d(8, 8, 3, stride=2, padding=1),
    nn.Softplus(),
    nn.Flatten(),
    nn.Linear(8 * 7 * 7, 2),
)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
lambda_rr = 5.0


def get_batch(n=24):
    y = torch.randint(0, 2, (n,))
    img = 0.2 * torch.randn(n, 1, SIZE, SIZE)
    seam = torch.zeros(n, 1, SIZE, SIZE)
    seam[:, :, 5:9] = 1.0
    for i in range(n):
        if y[i] == 1:
            c = int(torch.randint(2, SIZE - 2, ()))
            img[i, 0, 6:8, c:c + 2] -= 1.5
            img[i, 0, 0:3, 0:3] += 1.0        # the plate of the bad supplier
    return img, y, seam


def explanation_loss(logp, images, mask):
    """Ross et al.: squared input gradient of the summed log-probabilities, where mask says irrelevant"""
    saliency = torch.autograd.grad(logp.sum(), images, create_graph=True)[0]
    return ((1 - mask) * saliency).pow(2).sum(dim=(1, 2, 3)).mean()


for it in range(15):
    images, labels, seam = get_batch()
    images.requires_grad_()
    logp = F.log_softmax(model(images), dim=1)
    right_answer = F.nll_loss(logp, labels)
    right_reason = explanation_loss(logp, images, seam)
    loss = right_answer + lambda_rr * right_reason

    opt.zero_grad()
    loss.backward()
    opt.step()

    if it % 5 == 0:
        print(it, f"{right_answer.item():.3f} {right_reason.item():.5f}")
