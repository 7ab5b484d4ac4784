# conditional gan for single heart beats, 1d convs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

opt = {
    'nz': 12,
    'n_class': 3,
    'length': 32,
    'batch': 32,
    'epochs': 2,
    'lr_g': 2e-3,
    'lr_d': 1e-3,
    'lambda_fm': 5.0,
    'seed': 1234,
}
np.random.seed(opt['seed'])
torch.manual_seed(opt['seed'])


def load_beats(n=192):
    t = np.linspace(-1, 1, opt['length'])
    kind = np.random.randint(0, opt['n_class'], n)
    width = np.array([0.05, 0.12, 0.08])[kind][:, None]
    shift = 0.1 * np.random.randn(n, 1)
    r = np.exp(-((t - shift) / width) ** 2)
    tw = 0.3 * np.exp(-((t - shift - 0.5) / 0.15) ** 2) * np.where(kind == 2, -1, 1)[:, None]
    beats = r + tw + 0.03 * np.random.randn(n, opt['length'])
    return torch.FloatTensor(beats).unsqueeze(1), torch.LongTensor(kind)


class NetG(nn.Module):
    def __init__(self):
        super(NetG, self).__init__()
        self.label = nn.Embedding(opt['n_class'], 4)
        self.fc = nn.Linear(opt['nz'] + 4, 16 * 8)
        self.up1 = nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1)
        self.up2 = nn.ConvTranspose1d(8, 1, 4, stride=2, padding=1)

    def forward(self, z, y):
        h = torch.cat([z, self.label(y)], 1)
        h = F.relu(self.fc(h)).view(-1, 16, 8)
        return self.up2(F.leaky_relu(self.up1(h), 0.2))


class NetD(nn.Module):
    def __init__(self):
        super(NetD, self).__init__()
        self.label = nn.Embedding(opt['n_class'], opt['length'])
        self.c1 = nn.Conv1d(2, 8, 5, stride=2, padding=2)
        self.c2 = nn.Conv1d(8, 16, 5, stride=2, padding=2)
        self.fc = nn.Linear(16 * 8, 1)

    def forward(self, beat, y):
        h = torch.cat([beat, self.label(y).unsqueeze(1)], 1)
        f = F.leaky_relu(self.c1(h), 0.2)
        f = F.leaky_relu(self.c2(f), 0.2)
        return self.fc(f.view(f.size(0), -1)).squeeze(1), f


netG, netD = NetG(), NetD()
optimG = torch.optim.Adam(netG.parameters(), lr=opt['lr_g'], betas=(0.5, 0.999))
optimD = torch.optim.Adam(netD.parameters(), lr=opt['lr_d'], betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
beats, kinds = load_beats()

for epoch in range(opt['epochs']):
    for i, idx in enumerate(torch.randperm(len(beats)).split(opt['batch'])):
        real, y = Variable(beats[idx]), Variable(kinds[idx])
        ones, zeros = torch.ones(len(idx)), torch.zeros(len(idx))
        z = torch.randn(len(idx), opt['nz'])
        optimD.zero_grad()
        optimG.zero_grad()

        # discriminator
        fake = netG(z, y)
        d_real, feat_real = netD(real, y)
        d_fake, _ = netD(fake, y)
        d_loss = bce(d_real, 0.9 * ones) + bce(d_fake, zeros)
        d_loss.backward()
        optimD.step()

        # generator, with feature matching
        g_out, feat_fake = netD(fake.detach(), y)
        fm = F.mse_loss(feat_fake.mean(0), feat_real.detach().mean(0))
        g_loss = bce(g_out, ones) + opt['lambda_fm'] * fm
        g_loss.backward()
        optimG.step()
        if i % 3 == 0:
            print('[%d/%d] D %.3f  G %.3f  fm %.4f' % (epoch, i, d_loss.item(), g_loss.item(), fm.item()))
