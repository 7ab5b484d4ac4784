"""Momentum contrast for photographs of mosses (small): key encoder by EMA, a queue of negatives."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class BasicBlock(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.conv1 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


def encoder(dim, width=10):
    return nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ReLU(inplace=True), BasicBlock(width),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, dim))


class MoCo(nn.Module):
    def __init__(self, dim=12, K=64, m=0.98, T=0.1):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = encoder(dim)
        self.encoder_k = copy.deepcopy(self.encoder_q).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1.0 - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        ptr = int(self.queue_ptr)
        self.queue[:, ptr:ptr + len(keys)] = keys.T
        self.queue_ptr[0] = (ptr + len(keys)) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = (q * k).sum(1, keepdim=True)
        l_neg = q @ self.queue.clone().detach()
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        self._dequeue_and_enqueue(k)
        return logits, torch.zeros(len(logits), dtype=torch.long)


def augment(x):
    x = torch.roll(x, shifts=tuple(torch.randint(-2, 3, (2,)).tolist()), dims=(2, 3))
    x = x * (1 + 0.2 * torch.randn(len(x), 3, 1, 1))
    x += 0.05 * torch.randn_like(x)
    return x


if __name__ == "__main__":
    torch.manual_seed(0)
    photos = F.interpolate(torch.rand(64, 3, 4, 4), scale_factor=4, mode="bilinear")
    model = MoCo()
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for epoch in range(3):
        losses = 0.0
        for idx in torch.randperm(64).split(16):
            logits, labels = model(augment(photos[idx]), augment(photos[idx]))
            loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses += loss.item()
        print("epoch %d: %.4f" % (epoch, losses / 4))
