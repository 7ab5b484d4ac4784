# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = score, interpolated
import torch
from torch import nn

torch.manual_seed(6)
critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    interpolated = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(interpolated)
    grads = torch.autograd.grad(score, interpolated, create_graph=True)[0]  # expect: place
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


for it in range(4):
    real = torch.randn(20, 2) + 2
    fake = torch.randn(20, 2)
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
