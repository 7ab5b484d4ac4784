# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = f_src, f_tgt, feats, opt_f, self.opt_f
# Blight detection from drone tiles: labelled tiles from orchard A, unlabelled ones from
# orchard B (different camera, different season). DANN-like with a reversal layer.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


def tiles(n, shift, gen):
    y = torch.randint(0, 2, (n,), generator=gen)
    img = 0.3 * torch.randn(n, 3, 12, 12, generator=gen) + shift
    spot = torch.zeros(n, 1, 12, 12)
    spot[:, :, 3:8, 3:8] = 1.2
    img = img + spot * y[:, None, None, None].float()
    return img, y


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.tanh(self.c2(torch.tanh(self.c1(x)))).mean(dim=(2, 3))


class OrchardTrainer:
    def __init__(self, opts):
        self.opts = opts
        self.features = Features()
        self.blight = nn.Linear(16, 2)
        self.domain = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
        self.opt_f = torch.optim.Adam(
            list(self.features.parameters()) + list(self.blight.parameters()), lr=opts["lr"])
        self.opt_d = torch.optim.Adam(self.domain.parameters(), lr=opts["lr"])

    def domain_loss(self, f_src, f_tgt, lam):
        feats = torch.cat([f_src, f_tgt])
        where = torch.cat([torch.zeros(len(f_src)), torch.ones(len(f_tgt))])
        score = self.domain(Reverse.apply(feats, lam)).squeeze(1)
        return F.binary_cross_entropy_with_logits(score, where)

    def iteration(self, src, y, tgt, progress):
        self.opt_f.zero_grad()
        self.opt_d.zero_grad()

        f_src, f_tgt = self.features(src), self.features(tgt)  # expect: place
        loss_y = F.cross_entropy(self.blight(f_src), y)
        loss_d = self.domain_loss(f_src, f_tgt, lam=self.opts["lam"] * progress)

        loss_y.backward(retain_graph=True)
        self.opt_f.step()  # expect: place

        loss_d.backward()  # expect: place
        self.opt_d.step()
        return loss_y.item(), loss_d.item()

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.blight(self.features(x)).argmax(1) == y).float().mean().item()


opts = {"lr": 5e-3, "lam": 0.3, "iters": 60, "batch": 16}
torch.manual_seed(13)
gen = torch.Generator().manual_seed(13)
trainer = OrchardTrainer(opts)
for i in range(opts["iters"]):
    src, y = tiles(opts["batch"], 0.0, gen)
    tgt, _ = tiles(opts["batch"], 0.05, gen)
    ly, ld = trainer.iteration(src, y, tgt, progress=(i + 1) / opts["iters"])
    if i % 15 == 0:
        print("iter %d  blight %.3f  domain %.3f" % (i, ly, ld))
print("orchard B accuracy %.2f" % trainer.accuracy(*tiles(64, 0.05, gen)))
