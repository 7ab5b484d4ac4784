# linear unmixing of a hyperspectral cube:  cube ~ abundances @ spectra,
# abundances >= 0 and summing to one per pixel, spectra within [0, 1]
import numpy as np
import torch

np.random.seed(101)
torch.manual_seed(101)

H, W = 12, 12
BANDS = 30
K = 4


def fake_cube():
    wl = np.linspace(0, 1, BANDS)
    centers = np.random.uniform(0.1, 0.9, size=(K, 2))
    lib = np.exp(-((wl[None] - centers[:, :1]) / 0.15) ** 2)
    lib += 0.5 * np.exp(-((wl[None] - centers[:, 1:]) / 0.08) ** 2)
    lib = lib / lib.max()
    mix = np.random.dirichlet(0.4 * np.ones(K), size=H * W)
    cube = mix @ lib + 0.01 * np.random.randn(H * W, BANDS)
    return (torch.tensor(cube, dtype=torch.float32),
            torch.tensor(lib, dtype=torch.float32),
            torch.tensor(mix, dtype=torch.float32))


class Unmixer:
    def __init__(self, cube, k, smooth=1e-2):
        self.cube = cube
        self.smooth = smooth
        pick = torch.randperm(len(cube))[:k]
        self.spectra = cube[pick].clone().clamp(0, 1).requires_grad_()
        self.abund = torch.full((len(cube), k), 1.0 / k).requires_grad_()
        self.opt = torch.optim.Adam([
            {'params': [self.spectra], 'lr': 5e-3},
            {'params': [self.abund], 'lr': 2e-2},
        ])

    def objective(self):
        err = (self.cube - self.abund @ self.spectra).pow(2).sum(1).mean()
        rough = (self.spectra[:, 1:] - self.spectra[:, :-1]).pow(2).sum()
        return err + self.smooth * rough

    def project(self):
        self.spectra = self.spectra.detach().clamp(0, 1).requires_grad_()
        abund = self.abund.detach().clamp(min=1e-6)
        self.abund = (abund / abund.sum(dim=1, keepdim=True)).requires_grad_()

    def fit(self, iters=60, verbose=15):
        trace = []
        for i in range(iters):
            value = self.objective()
            self.opt.zero_grad()
            value.backward()
            self.opt.step()
            self.project()
            trace.append(value.item())
            if i % verbose == 0:
                print('%4d  %.5f' % (i, trace[-1]))
        return trace


def match(found, truth):
    # greedy pairing by spectral angle
    f = found / found.norm(dim=1, keepdim=True)
    t = truth / truth.norm(dim=1, keepdim=True)
    cos = f @ t.T
    pairs = []
    for _ in range(len(truth)):
        flat = cos.argmax().item()
        i, j = divmod(flat, cos.shape[1])
        pairs.append((i, j, round(cos[i, j].item(), 3)))
        cos[i] = -2
        cos[:, j] = -2
    return pairs


cube, lib, mix = fake_cube()
model = Unmixer(cube, K)
trace = model.fit()
print('first / last', round(trace[0], 4), round(trace[-1], 4))
for i, j, c in match(model.spectra.detach().clone(), lib):
    err = (model.abund.detach()[:, i] - mix[:, j]).abs().mean().item()
    print('endmember', i, 'is material', j, ' cos', c, ' abundance mae', round(err, 3))
