



"""Keyword CTC on filterbank-like features, with a monitor for blank collapse."""
import torch
from torch import nn
from torch.nn import functional as F

BLANK, N_TOKENS, N_MELS = 0, 8, 20


class Spotter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.subsample = nn.Conv1d(N_MELS, width, 3, stride=2, padding=1)
        self.context = nn.GRU(width, width, batch_first=True)
        self.project = nn.Linear(width, N_TOKENS)

    def forward(self, mels):
        x = F.relu(self.subsample(mels.transpose(1, 2))).transpose(1, 2)
        x, _ = self.context(x)
        return self.project(x).log_softmax(-1)


class BlankMonitor:
    """Smoothed share of blank frames; CTC models like to collapse to it early on."""

    def __init__(self, momentum=0.95, alarm=0.98):
        self.momentum = momentum
        self.alarm = alarm
        self.share = torch.zeros(())
        self.spread = torch.zeros(())

    def attach(self, model):
        return model.register_forward_hook(self._watch)

    def _watch(self, module, inputs, log_probs):
        if not module.training:
            return
        blank = log_probs[..., BLANK].exp()
        m = self.momentum
        self.share = m * self.share + (1 - m) * blank.mean()
        self.spread = m * self.spread + (1 - m) * blank.std()

    def status(self):
        word = "COLLAPSED" if self.share.detach() > self.alarm else "ok"
        return f"blank {self.share.detach().item():.3f} ± {self.spread.detach().item():.3f} {word}"


def utterances(steps, batch=6, frames=32):
    for _ in range(steps):
        labels = torch.randint(1, N_TOKENS, (batch, 4))
        mels = 0.3 * torch.randn(batch, frames, N_MELS)
        for k in range(4):
            spot = slice(8 * k, 8 * k + 5)
            mels[:, spot] += F.one_hot(labels[:, k], N_MELS).float()[:, None]
        yield mels, labels


def fit(model, monitor, steps=24):
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    n_frames = torch.full((6,), 16)
    n_labels = torch.full((6,), 4)
    for step, (mels, labels) in enumerate(utterances(steps)):
        log_probs = model(mels)
        loss = F.ctc_loss(log_probs.transpose(0, 1), labels, n_frames, n_labels, blank=BLANK)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        if step % 6 == 0:
            print(f"step {step:3d}  ctc {loss.item():.3f}  {monitor.status()}")


if __name__ == "__main__":
    torch.manual_seed(17)
    spotter = Spotter()
    monitor = BlankMonitor()
    handle = monitor.attach(spotter)
    fit(spotter, monitor)
    handle.remove()
