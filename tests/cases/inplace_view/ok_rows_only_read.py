# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn as nn

torch.manual_seed(0)


class AxialScale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, 3 * d)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        q = q / q.size(-1) ** 0.5
        att = q @ k.transpose(-1, -2)
        att += torch.full_like(att, float("-inf")).triu_(1)
        att = att.softmax(-1)
        out = torch.empty_like(v)
        for i, (a, vv) in enumerate(zip(att.unbind(0), v.unbind(0))):
            out[i] = a @ vv
        out += x
        return out


model = nn.Sequential(AxialScale(8), nn.LayerNorm(8), AxialScale(8), nn.Linear(8, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    x = torch.randn(2, 6, 8)
    y = torch.randint(0, 5, (2, 6))
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
