"""Foraging or travelling? Depth and pitch from whale tags, read in short chunks with a carried LSTM state."""
import torch
from torch import nn


class TagReader(nn.Module):
    def __init__(self, channels, hidden=20):
        super().__init__()
        self.lstm = nn.LSTM(channels, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, chunk, carried):
        out, carried = self.lstm(chunk, carried)
        return self.head(out).squeeze(-1), carried


def tags(whales, minutes, seed):
    g = torch.Generator().manual_seed(seed)
    foraging = torch.zeros(whales, minutes)
    depth = torch.zeros(whales, minutes)
    now = torch.zeros(whales)
    for t in range(1, minutes):
        switch = torch.rand(whales, generator=g) < 0.04
        now = torch.where(switch, 1 - now, now)
        foraging[:, t] = now
        depth[:, t] = 0.85 * depth[:, t - 1] + 0.3 * now + 0.15 * torch.randn(whales, generator=g)
    pitch = torch.diff(depth, dim=1, prepend=depth[:, :1])
    lost = torch.rand(whales, minutes, generator=g) < 0.01  # the tag slipped and was put on again
    return torch.stack([depth, pitch], -1), foraging, lost


def let_go(carried, lost):
    """What one chunk hands to the next: the numbers only, and nothing for tags that slipped."""
    h, c = (s.detach().clone() for s in carried)
    again = lost.any(1)
    h[:, again] = 0.0
    c[:, again] = 0.0
    return h, c


def accuracy(reader, signals, foraging):
    reader.eval()
    with torch.no_grad():
        logits, _ = reader(signals, None)
    reader.train()
    return ((logits > 0).float() == foraging).float().mean().item()


def main():
    torch.manual_seed(40)
    reader = TagReader(2)
    opt = torch.optim.Adam(reader.parameters(), lr=0.01)
    signals, foraging, lost = tags(16, 240, 1)
    test_signals, test_foraging, _ = tags(8, 240, 2)
    size = 20
    for epoch in range(4):
        carried, history = None, []
        for start in range(0, signals.shape[1], size):
            part = slice(start, start + size)
            logits, carried = reader(signals[:, part], carried)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, foraging[:, part])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            opt.step()
            carried = let_go(carried, lost[:, part])
            history.append(loss.detach())
        print(f"epoch {epoch}: loss {torch.stack(history).mean():.4f}, "
              f"held-out accuracy {accuracy(reader, test_signals, test_foraging):.3f}")


main()
