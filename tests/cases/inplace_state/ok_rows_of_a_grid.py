import torch
import torch.nn as nn

torch.manual_seed(5)


class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Parameter(torch.tensor(0.2))

    def forward(self, u0, steps):
        u = u0.repeat(steps + 1, 1)
        for n in range(steps):
            u[n + 1, 1:-1] = u[n, 1:-1] + self.k * (u[n, 2:] - 2 * u[n, 1:-1] + u[n, :-2])
        return u[-1]


model = Diffusion()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
u0 = torch.sin(torch.linspace(0, 3.14, 12))
target = u0 * 0.5
for it in range(4):
    opt.zero_grad()
    ((model(u0, 5) - target) ** 2).sum().backward()
    opt.step()
    print(it, model.k.item())
