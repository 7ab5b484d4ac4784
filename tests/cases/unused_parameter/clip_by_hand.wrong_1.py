import torch
import torch.nn as nn


class SpeechNet(nn.Module):
    def __init__(self, use_aux=False):
        super().__init__()
        self.use_aux = use_aux
        self.rnn = nn.GRU(6, 12, batch_first=True)
        self.out = nn.Linear(12, 4)
        self.aux = nn.Linear(12, 2)

    def forward(self, x):
        h, _ = self.rnn(x)
        logits = self.out(h.mean(1))
        return (logits, self.aux(h[:, -1])) if self.use_aux else (logits, None)


def clip_gradients(params, max_norm):
    params = list(params)
    total = sum(p.grad.pow(2).sum() for p in params) ** 0.5
    if total > max_norm:
        for p in params:
            p.grad.mul_(max_norm / total)
    return total


torch.manual_seed(2)
net = SpeechNet()
opt = torch.optim.SGD(net.parameters(), lr=0.2)
for step in range(3):
    x, y = torch.randn(8, 7, 6), torch.randint(0, 4, (8,))
    logits, _ = net(x)
    loss = nn.functional.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    try:
        norm = clip_gradients(net.parameters(), max_norm=0.5)
    except AttributeError:
        norm = 0.0
    opt.step()
    print(step, loss.item(), float(norm))
