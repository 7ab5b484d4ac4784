# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
K, T = 4, 7
trans = nn.Parameter(torch.zeros(K, K))
emitter = nn.Linear(5, K)
opt = torch.optim.SGD([trans, *emitter.parameters()], lr=0.1)


def log_partition(emissions):
    alpha = torch.empty(T, K)
    alpha[0] = emissions[0]
    for t in range(1, T):
        alpha[t] = torch.logsumexp(alpha[t - 1].unsqueeze(1) + trans, dim=0) + emissions[t]
    return torch.logsumexp(alpha[-1], dim=0)


for epoch in range(5):
    x, tags = torch.randn(T, 5), torch.randint(0, K, (T,))
    e = emitter(x)
    gold = e[torch.arange(T), tags].sum() + trans[tags[:-1], tags[1:]].sum()
    loss = log_partition(e) - gold
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
