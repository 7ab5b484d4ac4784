"""Keyword spotting from raw audio with a learnable band-pass front end."""
import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

SAMPLE_RATE = 4000
CLASSES = ("yes", "no", "stop")


def mel(f):
    return 2595 * np.log10(1 + f / 700)


def inv_mel(m):
    return 700 * (10 ** (m / 2595) - 1)


class BandPassBank(nn.Module):
    """Each filter is a windowed difference of two sinc functions with learnable cut-offs."""

    def __init__(self, n_filters=8, kernel_size=41, min_hz=30.0):
        super().__init__()
        self.kernel_size, self.min_hz = kernel_size, min_hz
        edges = inv_mel(np.linspace(mel(min_hz), mel(SAMPLE_RATE / 2 - 50), n_filters + 1))
        self.low_hz = nn.Parameter(torch.tensor(edges[:-1] / SAMPLE_RATE, dtype=torch.float32))
        self.band_hz = nn.Parameter(torch.tensor(np.diff(edges) / SAMPLE_RATE, dtype=torch.float32))
        half = (kernel_size - 1) // 2
        self.register_buffer("n", torch.arange(-half, half + 1).float())
        self.register_buffer("window", torch.hamming_window(kernel_size, periodic=False))

    def kernels(self):
        n = self.n[None, :]
        low = self.low_hz.abs()[:, None] + self.min_hz / SAMPLE_RATE
        high = torch.clamp(low + self.band_hz.abs()[:, None], 0, 0.5)
        band = 2 * high * torch.sinc(2 * high * n) - 2 * low * torch.sinc(2 * low * n)
        band = band / (2 * (high - low))
        filters = band * self.window
        return filters.unsqueeze(1)

    def forward(self, wave):
        return nn.functional.conv1d(wave, self.kernels(), stride=4)


class KeywordNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.frontend = BandPassBank()
        self.norm = nn.BatchNorm1d(8)
        self.conv = nn.Conv1d(8, 16, 9, stride=4)
        self.head = nn.Linear(16, n_classes)

    def forward(self, wave):
        energy = torch.log1p(self.frontend(wave).abs())
        h = torch.relu(self.conv(self.norm(energy)))
        return self.head(h.mean(dim=-1))


def synthesize(n, length=1200):
    labels = torch.randint(len(CLASSES), (n,))
    t = torch.arange(length) / SAMPLE_RATE
    centres = torch.tensor([420.0, 780.0, 1250.0])[labels].unsqueeze(1)
    drift = 1 + 0.1 * torch.randn(n, 1)
    wave = torch.sin(2 * np.pi * centres * drift * t) + 0.8 * torch.randn(n, length)
    return TensorDataset(wave.unsqueeze(1), labels)


def run_epoch(model, loader, criterion, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_sum = hits = seen = 0
    with torch.set_grad_enabled(training):
        for wave, label in loader:
            logits = model(wave)
            loss = criterion(logits, label)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(label)
            hits += (logits.argmax(1) == label).sum().item()
            seen += len(label)
    return loss_sum / seen, hits / seen


def main():
    torch.manual_seed(17)
    train_loader = DataLoader(synthesize(96), batch_size=16, shuffle=True)
    dev_loader = DataLoader(synthesize(48), batch_size=48)
    model = KeywordNet(len(CLASSES))
    groups = [
        {"params": model.frontend.parameters(), "lr": 1e-3},
        {"params": [p for name, p in model.named_parameters() if not name.startswith("frontend")]},
    ]
    optimizer = optim.RMSprop(groups, lr=2e-3)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.7)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    before = model.frontend.low_hz.detach().clone()
    for epoch in range(4):
        train_loss, train_acc = run_epoch(model, train_loader, criterion, optimizer)
        dev_loss, dev_acc = run_epoch(model, dev_loader, criterion)
        scheduler.step()
        print(f"{epoch}: train {train_loss:.3f}/{train_acc:.2f} dev {dev_loss:.3f}/{dev_acc:.2f}")
    moved = (model.frontend.low_hz.detach() - before).abs().mean() * SAMPLE_RATE
    print(f"low cut-offs moved by {moved:.2f} Hz on average")


if __name__ == "__main__":
    main()
