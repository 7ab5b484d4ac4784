# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = feat_fake, feat_real, err_g, netd, optimizer_d
"""GANomaly-style reconstruction model for windows of multivariate pump sensor data."""
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn


class NetG(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(opt.nc, opt.ngf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv1d(opt.ngf, opt.nz, 4, 2, 1)
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose1d(opt.nz, opt.ngf, 4, 2, 1), nn.ReLU(), nn.ConvTranspose1d(opt.ngf, opt.nc, 4, 2, 1)
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


class NetD(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(opt.nc, opt.ndf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv1d(opt.ndf, opt.ndf, 4, 2, 1), nn.Tanh()
        )
        self.classifier = nn.Linear(opt.ndf * opt.isize // 4, 1)

    def forward(self, x):
        f = self.features(x)
        return self.classifier(f.flatten(1)).squeeze(1), f


class Ganomaly:
    def __init__(self, opt):
        self.opt = opt
        self.netg, self.netd = NetG(opt), NetD(opt)
        self.l_adv = nn.BCEWithLogitsLoss()
        self.l_con = nn.L1Loss()
        self.l_lat = nn.MSELoss()
        self.optimizer_g = torch.optim.Adam(self.netg.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(self.netd.parameters(), lr=opt.lr, betas=(0.5, 0.999))

    def set_input(self, x):
        self.input = x
        self.real_label = torch.ones(len(x))
        self.fake_label = torch.zeros(len(x))

    def forward(self):
        self.fake = self.netg(self.input)
        self.pred_real, self.feat_real = self.netd(self.input)
        self.pred_fake, self.feat_fake = self.netd(self.fake)  # expect: place

    def update_d(self):
        self.optimizer_d.zero_grad()
        pred_fake, _ = self.netd(self.fake.detach())
        self.err_d = self.l_adv(self.pred_real, self.real_label) + self.l_adv(pred_fake, self.fake_label)
        self.err_d.backward()
        self.optimizer_d.step()  # expect: place

    def update_g(self):
        self.optimizer_g.zero_grad()
        self.err_g_adv = self.l_adv(self.pred_fake, self.real_label)  # expect: place
        self.err_g_con = self.l_con(self.fake, self.input)
        self.err_g_lat = self.l_lat(self.feat_fake, self.feat_real.detach())  # expect: place
        o = self.opt
        self.err_g = o.w_adv * self.err_g_adv + o.w_con * self.err_g_con + o.w_lat * self.err_g_lat
        self.err_g.backward()  # expect: place
        self.optimizer_g.step()

    def optimize_params(self):
        self.forward()
        self.update_d()  # expect: place
        self.update_g()


def windows(opt, rng):
    t = np.arange(opt.length)
    base = np.stack([np.sin(2 * np.pi * t / p + 0.3 * k) for k, p in enumerate((16, 23, 37))])
    series = torch.tensor(base + 0.05 * rng.standard_normal(base.shape), dtype=torch.float32)
    return series.unfold(1, opt.isize, 8).transpose(0, 1)


def main():
    opt = SimpleNamespace(nc=3, nz=4, ngf=8, ndf=8, isize=32, length=600, lr=4e-3, niter=10,
                          batchsize=24, w_adv=1.0, w_con=30.0, w_lat=1.0)
    torch.manual_seed(4)
    data = windows(opt, np.random.default_rng(4))
    model = Ganomaly(opt)
    for epoch in range(opt.niter):
        for idx in torch.randperm(len(data)).split(opt.batchsize):
            model.set_input(data[idx])
            model.optimize_params()
        print(f"epoch {epoch} err_d {model.err_d.item():.3f} con {model.err_g_con.item():.3f} "
              f"lat {model.err_g_lat.item():.4f}")


if __name__ == "__main__":
    main()
