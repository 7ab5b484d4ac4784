"""Non-negative mixing weights of a spectrum."""
import torch

torch.manual_seed(0)
parts = torch.rand(5, 40)
seen = torch.tensor([0.5, 0.0, 1.0, 0.0, 0.2]) @ parts


class Mixture:
    def __init__(self, n):
        self.shares = torch.full((n,), 0.3, requires_grad=True)

    def normalise(self):
        self.shares = self.shares.clamp(min=0).detach().requires_grad_()


mix = Mixture(5)
opt = torch.optim.Adam([mix.shares], lr=0.05)
for it in range(30):
    opt.zero_grad()
    loss = (mix.shares @ parts - seen).pow(2).mean()
    loss.backward()
    opt.step()
    mix.normalise()
    print(it, loss.item())
