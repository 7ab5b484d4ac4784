# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class CTCish(nn.Module):
    """forward algorithm over a left-to-right lattice"""

    def __init__(self, d, s):
        super().__init__()
        self.emit = nn.Linear(d, s)
        self.stay = nn.Parameter(torch.zeros(s))

    def forward(self, x):
        e = self.emit(x).log_softmax(-1)
        T, S = e.shape
        a = torch.full((T, S), -1e4)
        a[0, 0] = e[0, 0]
        keep, move = torch.nn.functional.logsigmoid(self.stay), torch.nn.functional.logsigmoid(-self.stay)
        for t in range(1, T):
            for s in range(S):
                stay = a[t - 1, s] + keep[s]
                come = a[t - 1, s - 1] + move[s - 1] if s else torch.tensor(-1e4)
                a[t, s] = torch.logaddexp(stay, come) + e[t, s]
        return -a[T - 1, S - 1]


torch.manual_seed(0)
net = CTCish(5, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.randn(6, 5))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
