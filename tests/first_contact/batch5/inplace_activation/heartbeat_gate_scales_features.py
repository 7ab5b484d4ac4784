# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = x, h, out, feats
"""Beat classifier on single-lead ECG: residual convolutions, channels weighted by what the whole beat looks like."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Squeeze(nn.Module):
    def __init__(self, ch, r=2):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(ch, ch // r), nn.Linear(ch // r, ch)

    def forward(self, x):
        s = torch.sigmoid(self.fc2(F.relu(self.fc1(x.mean(2)))))
        return s.unsqueeze(2)


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.c1 = nn.Conv1d(cin, cout, 5, padding=2)
        self.c2 = nn.Conv1d(cout, cout, 5, padding=2)
        self.skip = nn.Conv1d(cin, cout, 1)
        self.se = Squeeze(cout)

    def forward(self, x):
        out = F.relu(self.c1(x))
        out = torch.tanh(self.c2(out))
        out *= self.se(out)  # expect: place
        out += self.skip(x)
        return F.relu(out, inplace=True)


class Beats(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.blocks = nn.Sequential(Block(1, 6), nn.MaxPool1d(2), Block(6, 8))
        self.out = nn.Linear(8, classes)

    def forward(self, x):
        return self.out(self.blocks(x).mean(2))


def beats(n):
    t = torch.linspace(-1, 1, 40)
    y = torch.randint(3, (n,))
    w = torch.tensor([0.08, 0.16, 0.08])[y][:, None]
    x = torch.exp(-t.pow(2) / w.pow(2)) + (y == 2).float()[:, None] * torch.exp(-(t - 0.5).pow(2) / 0.02)
    return x[:, None] + 0.05 * torch.randn(n, 1, 40), y


def main():
    torch.manual_seed(64)
    net = Beats()
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    for it in range(10):
        x, y = beats(18)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
    print(round(loss.item(), 4))


if __name__ == "__main__":
    main()
