# Learning rate range test for a small speech denoiser (conv encoder / decoder on raw audio),
# after the usual recipe: exponential lr, smoothed loss, stop when it explodes.
import math

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable
from torch.utils.data import Dataset, DataLoader

np.random.seed(1)
torch.manual_seed(1)


class NoisySpeech(Dataset):
    """Harmonic 'vowels' with an envelope, and the same with white noise on top."""

    def __init__(self, n=320, length=160, sr=2000.):
        t = np.arange(length) / sr
        self.clean = np.zeros((n, length), dtype=np.float32)
        for i in range(n):
            f0 = np.random.uniform(80, 200)
            for h in range(1, 5):
                self.clean[i] += np.sin(2 * np.pi * f0 * h * t + np.random.rand()) / h
            self.clean[i] *= np.hanning(length)
        self.noisy = self.clean + 0.3 * np.random.randn(n, length).astype(np.float32)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.noisy[i][None], self.clean[i][None]


class Denoiser(nn.Module):
    def __init__(self, ch=12):
        super(Denoiser, self).__init__()
        self.enc1 = nn.Conv1d(1, ch, 9, stride=2, padding=4)
        self.enc2 = nn.Conv1d(ch, 2 * ch, 9, stride=2, padding=4)
        self.dec2 = nn.ConvTranspose1d(2 * ch, ch, 8, stride=2, padding=3)
        self.dec1 = nn.ConvTranspose1d(2 * ch, 1, 8, stride=2, padding=3)
        self.act = nn.PReLU()

    def forward(self, x):
        e1 = self.act(self.enc1(x))
        e2 = self.act(self.enc2(e1))
        d2 = self.act(self.dec2(e2))
        return self.dec1(torch.cat([d2, e1], 1))


def snr_loss(estimate, target, eps=1e-6):
    noise = (estimate - target).pow(2).sum(-1)
    signal = target.pow(2).sum(-1)
    return -10 * torch.log10((signal + eps) / (noise + eps)).mean()


dataset = NoisySpeech()
trn_loader = DataLoader(dataset, batch_size=8, shuffle=True)
net = Denoiser()
optimizer = optim.SGD(net.parameters(), lr=1e-4)


def find_lr(init_value=1e-5, final_value=1e-1, beta=0.98):
    num = len(trn_loader) - 1
    mult = (final_value / init_value) ** (1.0 / num)
    lr = init_value
    optimizer.param_groups[0]['lr'] = lr
    avg_loss = 0.
    best_loss = 0.
    batch_num = 0
    losses = []
    log_lrs = []
    for data in trn_loader:
        batch_num += 1
        # get the loss for this mini-batch of inputs/outputs
        inputs, targets = data
        inputs, targets = Variable(inputs), Variable(targets)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = 20 + snr_loss(outputs, targets)
        # compute the smoothed loss
        avg_loss = beta * avg_loss + (1 - beta) * loss.item()
        smoothed_loss = avg_loss / (1 - beta ** batch_num)
        # stop if the loss is exploding
        if batch_num > 1 and smoothed_loss > 4 * best_loss:
            return log_lrs, losses
        # record the best loss
        if smoothed_loss < best_loss or batch_num == 1:
            best_loss = smoothed_loss
        # store the values
        losses.append(smoothed_loss)
        log_lrs.append(math.log10(lr))
        # do the SGD step
        loss.backward()
        optimizer.step()
        # update the lr for the next step
        lr *= mult
        optimizer.param_groups[0]['lr'] = lr
    return log_lrs, losses


def steepest(log_lrs, losses, skip=5):
    curve = np.array([float(l) for l in losses])
    slope = np.gradient(curve[skip:], np.array(log_lrs[skip:]))
    return 10 ** log_lrs[skip + int(slope.argmin())]


net.train()
logs, losses = find_lr()
print('range test: {} batches, loss {:.3f} -> {:.3f}'.format(len(losses), float(losses[0]), float(losses[-1])))
print('suggested learning rate: {:.2e}'.format(steepest(logs, losses)))
