# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = p
import argparse, torch
from torch import nn


def clip_weights(net, c):
    for name, p in net.named_parameters():
        if "weight" in name:
            p.clamp_(min=-c, max=c)  # expect: place


def sample_real(n):
    t = torch.rand(n) * 6.283
    return torch.stack([t.cos(), t.sin()], 1)


def main(a):
    torch.manual_seed(a.seed)
    G = nn.Sequential(nn.Linear(a.nz, 32), nn.ReLU(), nn.Linear(32, 2))
    C = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
    og, oc = (torch.optim.RMSprop(m.parameters(), lr=5e-5) for m in (G, C))
    for it in range(a.iters):
        for _ in range(a.n_critic):
            fake = G(torch.randn(a.bs, a.nz)).detach()
            loss_c = C(fake).mean() - C(sample_real(a.bs)).mean()
            oc.zero_grad(); loss_c.backward(); oc.step()
            clip_weights(C, a.clip)
        loss_g = -C(G(torch.randn(a.bs, a.nz))).mean()
        og.zero_grad(); loss_g.backward(); og.step()
        print(it, loss_c.item(), loss_g.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=2)
    p.add_argument("--n-critic", type=int, default=2)
    p.add_argument("--bs", type=int, default=16)
    p.add_argument("--nz", type=int, default=4)
    p.add_argument("--clip", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args())
