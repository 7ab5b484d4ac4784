# The critic scores the fakes once; the generator's loss uses these scores after the critic's step.
import torch
import torch.nn as nn

torch.manual_seed(11)
generator = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 6))
critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
bce = nn.BCEWithLogitsLoss()
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
ones, zeros = torch.ones(5, 1), torch.zeros(5, 1)

for step in range(6):
    real = torch.randn(5, 6).cumsum(dim=1)
    opt_d.zero_grad()
    fake = generator(torch.randn(5, 3))
    d_real = critic(real)
    d_fake = critic(fake)
    loss_d = bce(d_real, ones) + bce(d_fake, zeros)
    loss_d.backward(retain_graph=True)
    opt_d.step()

    opt_g.zero_grad()
    d_fake = critic(fake.detach())
    loss_g = bce(d_fake, ones)
    loss_g.backward()
    opt_g.step()
    print(step, round(loss_d.item(), 4), round(loss_g.item(), 4))
