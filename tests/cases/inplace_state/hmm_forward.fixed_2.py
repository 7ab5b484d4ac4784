import torch
from torch import nn

torch.manual_seed(10)


class HMM(nn.Module):
    def __init__(self, states, symbols):
        super().__init__()
        self.trans = nn.Parameter(torch.randn(states, states))
        self.emit = nn.Parameter(torch.randn(states, symbols))
        self.start = nn.Parameter(torch.zeros(states))

    def likelihood(self, obs):
        A, B = self.trans.softmax(1), self.emit.softmax(1)
        alpha = torch.zeros(len(obs), A.size(0))
        alpha[0] = self.start.softmax(0) * B[:, obs[0]]
        for t in range(1, len(obs)):
            alpha[t] = (alpha[t - 1].clone() @ A) * B[:, obs[t]]
        return alpha[-1].sum()


hmm = HMM(3, 4)
opt = torch.optim.LBFGS(hmm.parameters(), lr=0.5, max_iter=4)
sequence = torch.tensor([0, 1, 1, 2, 3, 3, 0, 1, 2, 2])


def closure():
    opt.zero_grad()
    nll = -hmm.likelihood(sequence).log()
    nll.backward()
    return nll


for sweep in range(2):
    print("nll", opt.step(closure).item())
