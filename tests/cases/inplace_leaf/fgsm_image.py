# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = adv
import torch
from torch import nn

torch.manual_seed(9)
classifier = nn.Sequential(nn.Flatten(), nn.Linear(3 * 6 * 6, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.SGD(classifier.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()


def pgd(model, images, labels, eps=0.1, alpha=0.03, iters=3):
    adv = images.clone().requires_grad_(True)
    for _ in range(iters):
        loss = criterion(model(adv), labels)
        g, = torch.autograd.grad(loss, adv)
        adv += alpha * g.sign()  # expect: place
        adv.clamp_(images - eps, images + eps)  # expect: place
    return adv.detach()


for step in range(4):
    images = torch.rand(8, 3, 6, 6)
    labels = torch.randint(0, 5, (8,))
    adv = pgd(classifier, images, labels)
    loss = criterion(classifier(adv), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), (adv - images).abs().max().item())
