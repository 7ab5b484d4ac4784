# expect: pattern = undetached-target
# expect: also = derived-outside-loop, forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = mem_label, aff
"""Source-free adaptation of a road sign classifier from day to night."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)
np.random.seed(19)
CLASSES, DIM, N = 4, 12, 48


def entropy(p):
    return -(p * torch.log(p + 1e-5)).sum(dim=1)


def loader(images, batch_size=16):
    order = np.random.permutation(len(images))
    for start in range(0, len(images), batch_size):
        idx = torch.from_numpy(order[start:start + batch_size])
        yield images[idx], idx


def obtain_label(images, netF, netB, netC, threshold=0.3):
    feas = netB(netF(images))
    out = F.softmax(netC(feas), dim=1)
    unit = F.normalize(feas, dim=1)
    initc = out.t() @ unit / (out.sum(dim=0)[:, None] + 1e-8)
    aff = F.softmax(unit @ F.normalize(initc, dim=1).t() / threshold, dim=1)  # expect: place
    for _ in range(2):
        initc = aff.t() @ unit / (aff.sum(dim=0)[:, None] + 1e-8)
        aff = F.softmax(unit @ F.normalize(initc, dim=1).t() / threshold, dim=1)  # expect: place
    return aff  # expect: place


day = torch.randn(CLASSES, DIM)
labels = torch.arange(N) % CLASSES
night = day[labels] * 0.6 + 0.5 * torch.randn(N, DIM) - 0.3

netF = nn.Sequential(nn.Linear(DIM, 24), nn.ReLU())
netB = nn.Sequential(nn.Linear(24, 10), nn.BatchNorm1d(10))
netC = nn.Linear(10, CLASSES)
source = nn.Sequential(netF, netB, netC)
source_opt = torch.optim.SGD(source.parameters(), lr=0.1, momentum=0.9)
for _ in range(25):
    loss = F.cross_entropy(source(day[labels] + 0.3 * torch.randn(N, DIM)), labels, label_smoothing=0.1)
    source_opt.zero_grad()
    loss.backward()
    source_opt.step()
for p in netC.parameters():
    p.requires_grad = False

optimizer = torch.optim.SGD([
    {"params": netF.parameters(), "lr": 0.01},
    {"params": netB.parameters(), "lr": 0.05},
], momentum=0.9, weight_decay=1e-3)

for epoch in range(3):
    netF.train(), netB.train()
    mem_label = obtain_label(night, netF, netB, netC)  # expect: place
    for inputs_test, tar_idx in loader(night):
        pred = mem_label[tar_idx]  # expect: place
        outputs_test = netC(netB(netF(inputs_test)))
        softmax_out = F.softmax(outputs_test, dim=1)
        classifier_loss = -(pred * F.log_softmax(outputs_test, dim=1)).sum(dim=1).mean()
        msoftmax = softmax_out.mean(dim=0)
        im_loss = entropy(softmax_out).mean() + (msoftmax * torch.log(msoftmax + 1e-5)).sum()
        total = 0.3 * classifier_loss + im_loss
        optimizer.zero_grad()
        total.backward()  # expect: place
        optimizer.step()
    accuracy = (mem_label.argmax(1) == labels).float().mean().item()
    print("epoch %d  loss %.4f  pseudo accuracy %.2f" % (epoch, total.item(), accuracy))
