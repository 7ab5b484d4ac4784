# expect: pattern = none
# expect: raises = nothing
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, encoder, dim=8, size=64, m=0.95, temperature=0.2):
        super().__init__()
        self.m, self.temperature, self.size = m, temperature, size
        self.encoder_q = encoder
        self.encoder_k = copy.deepcopy(encoder)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, size), dim=0))
        self.ptr = 0

    @torch.no_grad()
    def _momentum_update(self):
        for pq, pk in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            pk.data = pk.data * self.m + pq.data * (1.0 - self.m)

    @torch.no_grad()
    def _enqueue(self, keys):
        n = keys.size(0)
        self.queue[:, self.ptr : self.ptr + n] = keys.T
        self.ptr = (self.ptr + n) % self.size

    def forward(self, view_q, view_k):
        q = F.normalize(self.encoder_q(view_q), dim=1)
        with torch.no_grad():
            self._momentum_update()
            k = F.normalize(self.encoder_k(view_k), dim=1)
        l_pos = (q * k).sum(1, keepdim=True)
        l_neg = q @ self.queue.clone().detach()
        logits = torch.cat([l_pos, l_neg], dim=1) / self.temperature
        self._enqueue(k)
        return logits, torch.zeros(len(logits), dtype=torch.long)


def augment(x):
    mask = (torch.rand_like(x) > 0.15).float()
    return x * mask + 0.05 * torch.randn_like(x)


def main():
    torch.manual_seed(13)
    birds = torch.randn(6, 20)[torch.randint(0, 6, (320,))] + 0.2 * torch.randn(320, 20)
    encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
    model = MoCo(encoder)
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.05, momentum=0.9)
    history = []
    for epoch in range(3):
        for batch in birds[torch.randperm(len(birds))].split(16):
            logits, labels = model(augment(batch), augment(batch))
            loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(loss.detach())
        print(epoch, torch.stack(history[-20:]).mean().item())


if __name__ == "__main__":
    main()
