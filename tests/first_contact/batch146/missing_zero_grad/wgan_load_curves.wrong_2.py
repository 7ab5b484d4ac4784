# WGAN (weight clipping) for daily electricity load curves, 24 values a day
import os
import random
import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

os.environ.setdefault("OMP_NUM_THREADS", "1")
manualSeed = 8888
random.seed(manualSeed)
np.random.seed(manualSeed)
torch.manual_seed(manualSeed)

# hyper parameters
batchSize = 32
nz = 8
hours = 24
hidden = 48
n_critic = 5
clip_value = 0.05
lr = 1e-3
niter = 2
Tensor = torch.FloatTensor


def load_curves(n):
    t = np.arange(hours)
    curves = []
    for _ in range(n):
        morning = np.exp(-0.5 * ((t - np.random.normal(8, 1)) / 2) ** 2)
        evening = 1.4 * np.exp(-0.5 * ((t - np.random.normal(19, 1)) / 2.5) ** 2)
        curves.append(morning + evening + 0.05 * np.random.randn(hours))
    data = np.stack(curves)
    return (data - data.mean()) / data.std()


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        m.weight.data.normal_(0.0, 0.1)
        m.bias.data.fill_(0)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


class _netG(nn.Module):
    def __init__(self):
        super(_netG, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(True),
            nn.Linear(hidden, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(True),
            nn.Linear(hidden, hours),
        )

    def forward(self, input):
        return self.main(input)


class _netC(nn.Module):
    def __init__(self):
        super(_netC, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(hours, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, 1),
        )

    def forward(self, input):
        return self.main(input).view(-1)


def infinite(loader):
    while True:
        for item in loader:
            yield item[0]


dataset = torch.utils.data.TensorDataset(torch.from_numpy(load_curves(640)).type(Tensor))
dataloader = torch.utils.data.DataLoader(dataset, batch_size=batchSize, shuffle=True, drop_last=True)

generator = _netG()
generator.apply(weights_init)
critic = _netC()
critic.apply(weights_init)

opt_gen = torch.optim.RMSprop(generator.parameters(), lr=lr)
opt_critic = torch.optim.RMSprop(critic.parameters(), lr=lr)

fixed_noise = Variable(torch.randn(64, nz))
data_iter = infinite(dataloader)
gen_iterations = 0

for epoch in range(niter):
    for i in range(len(dataloader) // n_critic):
        # ---- (1) critic ----
        opt_critic.zero_grad()
        for j in range(n_critic):
            real = Variable(next(data_iter))
            noise = Variable(torch.randn(batchSize, nz))
            fake = generator(noise).detach()
            critic_loss = critic(fake).mean() - critic(real).mean()
            critic_loss.backward()
            opt_critic.zero_grad()
            opt_critic.step()
            for p in critic.parameters():
                p.data.clamp_(-clip_value, clip_value)

        # ---- (2) generator ----
        opt_gen.zero_grad()
        noise = Variable(torch.randn(batchSize, nz))
        gen_loss = -critic(generator(noise)).mean()
        gen_loss.backward()
        opt_gen.step()
        gen_iterations += 1

        print("[%d/%d][%d] Loss_C: %.4f Loss_G: %.4f" % (
            epoch, niter, gen_iterations, critic_loss.item(), gen_loss.item()))

    generator.eval()
    with torch.no_grad():
        sample = generator(fixed_noise)
    generator.train()
    print("mean curve peaks at hour", sample.mean(0).argmax().item(), "std %.3f" % sample.std().item())
