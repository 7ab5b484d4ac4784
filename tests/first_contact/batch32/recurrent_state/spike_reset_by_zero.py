# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = v_mem, i_syn, buffer, buf
import math
import torch
import torch.nn as nn


class SurrogateSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v, threshold):
        ctx.save_for_backward(v)
        ctx.threshold = threshold
        return (v >= threshold).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * (v - ctx.threshold).abs()) ** 2, None


class StatefulLayer(nn.Module):
    """Keeps its states as buffers, so that they move with .to() and land in the state dict."""

    state_names = ()

    def has_state(self):
        return all(getattr(self, n).dim() > 0 for n in self.state_names)

    def init_states(self, like):
        for n in self.state_names:
            setattr(self, n, torch.zeros_like(like))

    def reset_states(self):
        for buffer in self.buffers():
            buffer.zero_()  # expect: place


class LIF(StatefulLayer):
    state_names = ("v_mem", "i_syn")

    def __init__(self, n_in, n_out, tau_mem=8.0, tau_syn=4.0, threshold=1.0):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out, bias=False)
        self.alpha, self.beta = math.exp(-1 / tau_mem), math.exp(-1 / tau_syn)
        self.threshold = threshold
        for n in self.state_names:
            self.register_buffer(n, torch.tensor(0.0), persistent=False)

    def forward(self, x):
        # x: (time, batch, features)
        drive = self.fc(x)
        if not self.has_state():
            self.init_states(drive[0])
        out = []
        for step in drive:
            self.i_syn = self.beta * self.i_syn + step  # expect: place
            self.v_mem = self.alpha * self.v_mem + (1 - self.alpha) * self.i_syn  # expect: place
            spikes = SurrogateSpike.apply(self.v_mem, self.threshold)
            self.v_mem = self.v_mem - spikes * self.threshold
            out.append(spikes)
        return torch.stack(out)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = LIF(24, 40)
        self.l2 = LIF(40, 3)

    def reset_states(self):
        for m in self.modules():
            if isinstance(m, StatefulLayer):
                m.reset_states()  # expect: place

    def forward(self, x):
        return self.l2(self.l1(x)).mean(0)


def touch_events(n, seed):
    """Three kinds of touch on an electronic skin of 24 taxels, as spike trains of 20 steps."""
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 3, (n,), generator=g)
    rate = torch.full((n, 24), 0.1)
    for k in range(3):
        rate[kind == k, 8 * k : 8 * k + 8] = 0.7
    return (torch.rand(20, n, 24, generator=g) < rate).float() * 3, kind


torch.manual_seed(5)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
x, y = touch_events(96, seed=0)

for epoch in range(3):
    for k in range(0, 96, 32):
        net.reset_states()  # expect: place
        rates = net(x[:, k : k + 32])
        loss = nn.functional.cross_entropy(8 * rates, y[k : k + 32])
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()
    acc = (rates.argmax(-1) == y[k : k + 32]).float().mean()
    print(f"epoch {epoch}  loss {loss.item():.4f}  acc {acc.item():.2f}")
