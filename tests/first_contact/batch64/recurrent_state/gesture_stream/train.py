# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = out
"""Train on long recordings, one update every 20 ms of events."""
import torch
from torch import nn
import torch.nn.functional as F

from events import N_BINS, N_CLASSES, recording, segments
from neurons import RecurrentLIF


class GestureNet(nn.Module):
    def __init__(self, n_hidden=48):
        super().__init__()
        self.hidden = RecurrentLIF(N_BINS, n_hidden)
        self.readout = nn.Linear(n_hidden, N_CLASSES)

    def forward(self, chunk):
        counts = 0.0
        for step in range(chunk.size(1)):
            counts = counts + self.hidden(chunk[:, step])
        return self.readout(counts / chunk.size(1)), counts


def train_recording(net, opt, events, labels, segment=20, rate_weight=1e-3):
    net.hidden.reset_state(events.size(0))
    history = []
    for chunk in segments(events, segment):
        logits, counts = net(chunk)  # expect: place
        loss = F.cross_entropy(logits, labels) + rate_weight * counts.pow(2).mean()
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
        net.hidden.detach_state()  # expect: place
        history.append(loss.item())
    return history


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(5)
    net = GestureNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for n in range(3):
        events, labels = recording(16, 100, gen)
        history = train_recording(net, opt, events, labels)
        print(f"recording {n}: first {history[0]:.3f} last {history[-1]:.3f}")


if __name__ == "__main__":
    main()
