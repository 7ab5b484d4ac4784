# expect: pattern = leaf-rebound
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = log_q, log_r, theta
# tune a scalar Kalman filter (process noise q, measurement noise r) on a GPS height track
import torch

torch.manual_seed(16)
true = torch.cumsum(0.1 * torch.randn(60), 0)
seen = true + 0.5 * torch.randn(60)


def innovations_nll(z, log_q, log_r):
    m, p, nll = z[0], torch.tensor(1.0), 0.0
    for zt in z[1:]:
        p = p + log_q.exp()
        s = p + log_r.exp()
        k = p / s
        nll = nll + 0.5 * (s.log() + (zt - m) ** 2 / s)
        m = m + k * (zt - m)
        p = (1 - k) * p
    return nll / len(z)


log_q = torch.tensor(0.0, requires_grad=True)
log_r = torch.tensor(0.0, requires_grad=True)
rate = 0.5
for n in range(15):
    nll = innovations_nll(seen, log_q, log_r)
    nll.backward()  # expect: place
    log_q = log_q - rate * log_q.grad  # expect: place
    log_r = log_r - rate * log_r.grad  # expect: place
    print(n, round(nll.item(), 4), round(log_q.item(), 3), round(log_r.item(), 3))
