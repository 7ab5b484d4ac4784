# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index
# expect: carrier = mixed
import torch
from torch import nn, autograd

torch.manual_seed(3)
LAMBDA = 10.0


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 32), nn.Softplus(), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x).view(-1)


def penalty(critic, real, fake):
    alpha = torch.rand(len(real), 1)
    mixed = alpha * real + (1 - alpha) * fake  # expect: place
    mixed.requires_grad_(True)
    scores = critic(fake)  # expect: place
    gradient = autograd.grad(outputs=scores.sum(), inputs=mixed, create_graph=True)[0]  # expect: place
    return LAMBDA * ((gradient.norm(2, dim=1) - 1) ** 2).mean()


critic = Critic()
generator = nn.Linear(4, 3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
for it in range(3):
    real = torch.randn(16, 3) * 0.5 + 1
    fake = generator(torch.randn(16, 4)).detach()
    c_loss = critic(fake).mean() - critic(real).mean() + penalty(critic, real, fake)
    opt_c.zero_grad()
    c_loss.backward()
    opt_c.step()
    g_loss = -critic(generator(torch.randn(16, 4))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    print(it, c_loss.item(), g_loss.item())
