# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = model.context, self.context
import copy
import torch
from torch import nn


class StatefulForecaster(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)
        self.context = None

    def forward(self, x):
        out, h = self.rnn(x)
        self.context = h  # expect: place
        return self.fc(out[:, -1])


class EarlyStopping:
    def __init__(self, patience=2):
        self.patience, self.best, self.bad, self.snapshot = patience, float("inf"), 0, None

    def __call__(self, val, model):
        if val < self.best:
            self.best, self.bad = val, 0
            self.snapshot = copy.deepcopy(model)  # expect: place
        else:
            self.bad += 1
        return self.bad >= self.patience


def series(n, t=12):
    phase = torch.rand(n, 1) * 6.28
    s = torch.sin(torch.arange(t + 1) * 0.4 + phase)
    return s[:, :t, None], s[:, t:]


def main():
    torch.manual_seed(0)
    net, stopper = StatefulForecaster(), EarlyStopping()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(5):
        x, y = series(32)
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if stopper(loss.item(), net):
            break
    print(stopper.best)


if __name__ == "__main__":
    main()
