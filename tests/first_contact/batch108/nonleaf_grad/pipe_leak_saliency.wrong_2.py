"""Leaks of water mains by ear: a spectrum classifier that is kept from leaning on a few bands.

After each epoch the bands that matter most are found by saliency and dimmed in the next one.
"""
import torch
from torch import nn
from torch.nn import functional as F

BINS = 64


def recordings(count, gen):
    leak = (torch.rand(count, generator=gen) < 0.5).float()
    f = torch.linspace(0, 1, BINS)
    ground = torch.exp(-3 * f)
    hiss = torch.exp(-((f - 0.6) / 0.12) ** 2) + 0.5 * torch.exp(-((f - 0.3) / 0.04) ** 2)
    hum = (torch.arange(BINS) % 13 == 5).float()
    loud = 0.5 + torch.rand(count, 1, generator=gen)
    power = ground + 0.35 * leak[:, None] * hiss + 0.6 * (leak[:, None] * 0.8 + 0.1) * hum
    return loud * (power + 0.2 * torch.rand(count, BINS, generator=gen)), leak


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 5, padding=2)
        self.dense = nn.Linear(8 * BINS // 2, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        h = F.max_pool1d(F.leaky_relu(self.conv(x)), 2)
        return self.dense(self.drop(h.flatten(1))).squeeze(1)


def prepare(spectra):
    """Each recording to unit loudness, and a channel for the convolution."""
    return (spectra / spectra.mean(1, keepdim=True)).unsqueeze(1)


def saliency(net, spectra, top):
    """The bands with the largest mean gradient of the leak score."""
    net.eval()
    clips = spectra.clone().requires_grad_(True)
    x = prepare(clips)
    net(x).sum().backward()
    strength = x.grad.abs().mean((0, 1)) if x.grad is not None else torch.zeros(BINS)
    net.zero_grad()
    net.train()
    return strength.topk(top).indices


def run_epoch(net, opt, data, dim, size=40):
    spectra, leak = data
    right = 0
    for rows in torch.randperm(len(leak)).split(size):
        score = net(prepare(spectra[rows]) * dim)
        loss = F.binary_cross_entropy_with_logits(score, leak[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += ((score > 0).float() == leak[rows]).sum().item()
    return right / len(leak)


def main(epochs=5):
    torch.manual_seed(64)
    gen = torch.Generator().manual_seed(64)
    train, held = recordings(320, gen), recordings(120, gen)
    net = Listener()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    dim = torch.ones(BINS)
    for epoch in range(epochs):
        share = run_epoch(net, opt, train, dim)
        bands = saliency(net, held[0], top=6)
        dim = torch.ones(BINS)
        dim[bands] = 0.3
        with torch.no_grad():
            good = ((net.eval()(prepare(held[0])) > 0).float() == held[1]).float().mean().item()
        net.train()
        print(f"epoch {epoch} train {share:.1%} held {good:.1%} leaning on {sorted(bands.tolist())}")


if __name__ == "__main__":
    main()
