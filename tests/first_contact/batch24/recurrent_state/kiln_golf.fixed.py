# kiln temperature, short version (fits on the shop's notice board)
import torch as t; from torch import nn as n; import math
t.manual_seed(0); B, T, H = 5, 8, 10; pi = math.pi
cell = n.LSTMCell(2, H); head = n.Linear(H, 1); ps = [*cell.parameters(), *head.parameters()]
o = t.optim.RMSprop(ps, lr=2e-3); mse = n.MSELoss(); log = []; k = 0


def firing(k):
    x = t.arange(k * T, k * T + T + 1) / 20; g = (x * pi).sin(); f = (x * 3).cos()
    return t.stack([g, f], 1)[:-1, None].repeat(1, B, 1), g[1:, None, None].repeat(1, B, 1)


def run(x, s):
    h, c = s; ys = []
    for v in x: h, c = cell(v, (h, c)); ys += [head(h)]
    return t.stack(ys), (h, c)


s = t.zeros(B, H), t.zeros(B, H)
for k in range(12):
    x, y = firing(k); s = tuple(v.detach() for v in s); p, s = run(x, s); l = mse(p, y)
    o.zero_grad(); l.backward(); n.utils.clip_grad_norm_(ps, 1.0); o.step(); log.append(l.item())
    if k % 4 == 3: m = sum(log[-4:]) / 4; print(k, round(m, 4))
