# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = alpha, log_alpha
"""Hidden weather states by maximum likelihood: the forward recursion, one row per day."""
import torch
import torch.nn.functional as F


class HiddenWeather(torch.nn.Module):
    def __init__(self, states, symbols):
        super().__init__()
        self.start = torch.nn.Parameter(torch.zeros(states))
        self.move = torch.nn.Parameter(torch.randn(states, states) * 0.3)
        self.emit = torch.nn.Parameter(torch.randn(states, symbols))

    def log_likelihood(self, days):
        start = F.softmax(self.start, 0)
        move = F.softmax(self.move, 1)
        emit = F.softmax(self.emit, 1)
        alpha = torch.empty(len(days), len(start))  # expect: place
        alpha[0] = start * emit[:, days[0]]
        for t in range(1, len(days)):
            alpha[t] = (alpha[t - 1] @ move) * emit[:, days[t]]  # expect: place
        return alpha[-1].sum().log()


torch.manual_seed(28)
records = [torch.randint(4, (15,)).sort().values for _ in range(3)]
hmm = HiddenWeather(3, 4)
opt = torch.optim.Adam(hmm.parameters(), lr=0.1)
for sweep in range(5):
    opt.zero_grad()
    nll = -sum(hmm.log_likelihood(r) for r in records) / 45
    nll.backward()  # expect: place
    opt.step()
    print(sweep, f"{nll.item():.4f}")
