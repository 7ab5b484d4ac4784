# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, d, heads=2):
        super().__init__()
        self.h, self.qkv, self.o = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, pad):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, -1).permute(2, 0, 3, 1, 4).unbind(0)
        s = q @ k.transpose(-1, -2)
        s *= k.size(-1) ** -0.5
        s.masked_fill_(pad[:, None, None], float("-inf"))
        s = s.softmax(-1)
        y = (s @ v).transpose(1, 2).reshape(b, t, d)
        y = self.o(y)
        y += x
        y[pad] = 0
        return y


torch.manual_seed(0)
net = nn.ModuleList(Attn(8) for _ in range(2))
head = nn.Linear(8, 3)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-3)
for step in range(3):
    x = torch.randn(4, 6, 8)
    pad = torch.arange(6)[None] >= torch.tensor([6, 4, 5, 3])[:, None]
    h = x
    for layer in net:
        h = layer(h, pad)
    loss = nn.functional.cross_entropy(head(h.sum(1) / (~pad).sum(1, keepdim=True)), torch.randint(0, 3, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
