import torch
from torch import nn
from torch.nn import functional as F


class MoCo(nn.Module):
    def __init__(self, dim=8, K=16, m=0.99, T=0.2):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, dim))
        self.encoder_k = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, dim))
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))

    def _momentum_update(self):
        with torch.no_grad():
            for pq, pk in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
                pk.mul_(self.m).add_(pq, alpha=1 - self.m)

    def _enqueue(self, keys):
        self.queue = torch.cat([keys.t(), self.queue], dim=1)[:, : self.K]

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1).detach().requires_grad_()
        self._momentum_update()
        k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = (q * k).sum(1, keepdim=True)
        l_neg = q @ self.queue
        self._enqueue(k.detach())
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        return logits, torch.zeros(len(q), dtype=torch.long)


torch.manual_seed(1)
model = MoCo()
optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.05)
data = torch.randn(5, 4, 10)
for x in data:
    logits, labels = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
