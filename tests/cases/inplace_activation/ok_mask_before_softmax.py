# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
T, D = 7, 12
qkv = nn.Linear(D, 3 * D)
proj = nn.Linear(D, D)
causal = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
opt = torch.optim.Adam([*qkv.parameters(), *proj.parameters()], lr=1e-3)

for i in range(4):
    x = torch.randn(3, T, D)
    q, k, v = qkv(x).split(D, dim=-1)
    scores = torch.einsum("btd,bsd->bts", q, k)
    scores *= D ** -0.5
    scores.masked_fill_(causal, float("-inf"))
    y = proj(F.softmax(scores, dim=-1) @ v)
    loss = F.mse_loss(y[:, :-1], x[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
