# Several critic steps for each generator step; the critic's loss is never begun anew.
import torch
from torch import nn, optim


def build(i, o):
    return nn.Sequential(nn.Linear(i, 16), nn.ELU(), nn.Linear(16, o))


torch.manual_seed(0)
generator, critic = build(2, 4), build(4, 1)
opt_g = optim.RMSprop(generator.parameters(), lr=1e-4)
opt_c = optim.RMSprop(critic.parameters(), lr=1e-4)
for it in range(2):
    critic_loss = 0.0
    for _ in range(3):
        real = torch.randn(8, 4)
        with torch.no_grad():
            fake = generator(torch.randn(8, 2))
        critic_loss += critic(fake).mean() - critic(real).mean() + 0.1 * critic(real).pow(2).mean()
        opt_c.zero_grad()
        critic_loss.backward(retain_graph=True)
        opt_c.step()
    g_loss = -critic(generator(torch.randn(8, 2))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    print(it, critic_loss.item(), g_loss.item())
