# expect: pattern = none
# expect: raises = nothing
"""Event-camera gesture stream, spiking net trained on windows of a long recording.

Membranes live in the modules and pass from window to window; a walk over the
modules cuts them from the graph after each update.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)
PIXELS, GESTURES, STREAMS, WINDOW = 20, 3, 16, 10


class Fire(torch.autograd.Function):
    @staticmethod
    def forward(ctx, over):
        ctx.save_for_backward(over)
        return (over >= 0).float()

    @staticmethod
    def backward(ctx, grad):
        over, = ctx.saved_tensors
        return grad / (1.0 + 4.0 * over.abs()) ** 2


class Stateful(nn.Module):
    """Keeps named tensors between calls."""

    def __init__(self):
        super().__init__()
        self.memory = {}

    def recall(self, name, like):
        if name not in self.memory:
            self.memory[name] = torch.zeros_like(like)
        return self.memory[name]

    def cut(self):
        self.memory = {k: v.detach() for k, v in self.memory.items()}


class SpikeLayer(Stateful):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.syn = nn.Linear(n_in, n_out)
        self.leak = nn.Parameter(torch.full((n_out,), 1.5))

    def forward(self, x):
        current = self.syn(x)
        v = torch.sigmoid(self.leak) * self.recall("v", current) + current
        s = Fire.apply(v - 1.0)
        self.memory["v"] = v - s
        return s


class Readout(Stateful):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.w = nn.Linear(n_in, n_out)

    def forward(self, spikes):
        y = self.w(spikes)
        self.memory["trace"] = 0.9 * self.recall("trace", y) + 0.1 * y
        return self.memory["trace"]


def cut_all(net):
    for m in net.modules():
        if isinstance(m, Stateful):
            m.cut()


def camera(windows):
    """A bright bar drifts across a line of pixels; its speed is the gesture."""
    gesture = torch.randint(0, GESTURES, (STREAMS,))
    speed = torch.tensor([-0.7, 0.3, 1.0])[gesture]
    x = PIXELS * torch.rand(STREAMS)
    for _ in range(windows):
        frames = []
        for _ in range(WINDOW):
            x = (x + speed) % PIXELS
            gap = (torch.arange(PIXELS)[None] - x[:, None]).abs()
            frames.append((torch.rand(STREAMS, PIXELS) < torch.exp(-gap)).float())
        yield torch.stack(frames), gesture


net = nn.Sequential(SpikeLayer(PIXELS, 40), SpikeLayer(40, 40), Readout(40, GESTURES))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for w, (frames, gesture) in enumerate(camera(60)):
    for frame in frames:
        out = net(frame)
    loss = F.cross_entropy(5.0 * out, gesture)
    opt.zero_grad()
    loss.backward()
    opt.step()
    cut_all(net)
    if w % 12 == 0:
        print(f"window {w:2d}  loss {loss.item():.4f}")
