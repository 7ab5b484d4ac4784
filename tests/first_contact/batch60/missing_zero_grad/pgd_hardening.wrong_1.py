# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = net, opt, optimizer, grad
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(17)
torch.set_num_threads(1)

EPS = 0.15
ALPHA = 0.05
PGD_STEPS = 4
BATCH = 32


def get_batch():
    """8x8 pictures with a bright bar: 4 classes = which pair of rows or columns is lit."""
    y = torch.randint(0, 4, (BATCH,))
    x = 0.2 * torch.rand(BATCH, 1, 8, 8)
    for i, label in enumerate(y.tolist()):
        start = 1 if label % 2 == 0 else 5
        if label < 2:
            x[i, 0, start:start + 2] += 0.6
        else:
            x[i, 0, :, start:start + 2] += 0.6
    return x.clamp(0, 1), y


def pgd(net, x, y):
    """L-inf PGD from a random start inside the ball."""
    x = x.detach()
    delta = torch.empty_like(x).uniform_(-EPS, EPS)
    for _ in range(PGD_STEPS):
        delta.requires_grad_(True)
        loss = F.cross_entropy(net(x + delta), y)
        if delta.grad is not None:
            delta.grad.zero_()
        loss.backward()  # expect: place
        with torch.no_grad():
            delta = delta + ALPHA * delta.grad.sign()
            delta = delta.clamp(-EPS, EPS)
            delta = (x + delta).clamp(0, 1) - x
    return (x + delta).detach()


def evaluate(net, batches=2):
    net.eval()
    clean = robust = total = 0
    for _ in range(batches):
        x, y = get_batch()
        x_adv = pgd(net, x, y)
        with torch.no_grad():
            clean += (net(x).argmax(1) == y).sum().item()
            robust += (net(x_adv).argmax(1) == y).sum().item()
        total += len(y)
    net.train()
    return clean / total, robust / total


net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
    nn.Flatten(),
    nn.Linear(16 * 16, 4),
)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

for it in range(15):
    x, y = get_batch()

    opt.zero_grad()  # expect: place
    x_adv = pgd(net, x, y)  # expect: place

    loss = 0.5 * F.cross_entropy(net(x), y) + 0.5 * F.cross_entropy(net(x_adv), y)
    loss.backward()  # expect: place
    gnorm = nn.utils.get_total_norm([p.grad for p in net.parameters()])
    opt.step()  # expect: place

    if it % 4 == 0:
        print(f"{it:3d}  loss {loss.item():.4f}  |g| {gnorm.item():.3f}")

print("clean %.2f  robust %.2f" % evaluate(net))
