# expect: pattern = retain-graph-leak
# expect: also = recurrent-state
# expect: raises = nothing
# expect: carrier = mem
"""Spiking classifier for event-camera gestures, trained online on chunks of long recordings.

The hidden layer keeps its membrane potential from chunk to chunk, as it would on the chip.
"""
import torch
from torch import nn


class FastSigmoid(torch.autograd.Function):
    """Heaviside forward, 1 / (1 + k|u|)^2 backward."""
    slope = 10.0

    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).to(u.dtype)

    @staticmethod
    def backward(ctx, grad):
        u, = ctx.saved_tensors
        return grad / (1 + FastSigmoid.slope * u.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, tau=8.0, threshold=1.0):
        super().__init__()
        self.decay = float(torch.exp(torch.tensor(-1.0 / tau)))
        self.threshold = threshold
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.decay * self.mem + current  # expect: place
        spikes = FastSigmoid.apply(self.mem - self.threshold)
        self.mem = self.mem - self.threshold * spikes.detach()  # expect: place
        return spikes


class GestureNet(nn.Module):
    def __init__(self, n_in, n_hidden, n_classes):
        super().__init__()
        self.synapse = nn.Linear(n_in, n_hidden)
        self.hidden = LIF()
        self.readout = nn.Linear(n_hidden, n_classes)

    def forward(self, events):
        """(time, batch, pixels) -> logits: mean readout over the chunk"""
        counts, logits = 0.0, 0.0
        for frame in events:
            spikes = self.hidden(self.synapse(frame))
            logits = logits + self.readout(spikes)
            counts = counts + spikes.mean()
        return logits / len(events), counts / len(events)


def recording(batch, n_chunks, chunk, side=6, n_classes=3):
    """A blob of events: moves right, moves down, or circles."""
    label = torch.randint(n_classes, (batch,))
    t = torch.arange(n_chunks * chunk).float().unsqueeze(1)
    start = torch.rand(batch) * side
    right = torch.stack([(start + 0.5 * t) % side, torch.full_like(t, side / 2).expand(-1, batch)], -1)
    down = torch.stack([torch.full_like(t, side / 2).expand(-1, batch), (start + 0.5 * t) % side], -1)
    circle = torch.stack([side / 2 + 2 * torch.cos(0.6 * t + start), side / 2 + 2 * torch.sin(0.6 * t + start)], -1)
    path = torch.stack([right, down, circle])[label, :, torch.arange(batch)].transpose(0, 1)
    grid = torch.cartesian_prod(torch.arange(side), torch.arange(side)).float() + 0.5
    rate = torch.exp(-((path.unsqueeze(2) - grid) ** 2).sum(-1))
    return (torch.rand_like(rate) < 0.8 * rate).float().split(chunk), label


def train(cfg):
    torch.manual_seed(cfg["seed"])
    net = GestureNet(36, cfg["hidden"], 3)
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    loss_fn = nn.CrossEntropyLoss()
    for rec in range(cfg["recordings"]):
        chunks, label = recording(cfg["batch"], cfg["chunks"], cfg["chunk_len"])
        net.hidden.reset()
        losses, rates, correct = [], [], 0
        for events in chunks:
            logits, rate = net(events)
            loss = loss_fn(logits, label) + cfg["rate_cost"] * (rate - 0.1) ** 2
            opt.zero_grad()
            loss.backward(retain_graph=True)  # expect: place
            opt.step()
            losses.append(loss.item())
            rates.append(rate.item())
            correct = (logits.argmax(1) == label).float().mean().item()
        if rec % 4 == 3:
            print(f"recording {rec + 1:2d}  loss {sum(losses) / len(losses):.4f}  acc at the end {correct:.2f}  "
                  f"rate {sum(rates) / len(rates):.3f}")


if __name__ == "__main__":
    train({"seed": 12, "hidden": 48, "lr": 5e-3, "recordings": 12, "batch": 16, "chunks": 8, "chunk_len": 10, "rate_cost": 1.0})
