"""Predict airway pressure breath by breath; long recordings, gradients through 20 samples."""
import torch
import torch.nn as nn


class Lungs(nn.Module):
    """Two recurrent levels; the slow one is updated once in five samples."""

    def __init__(self, inputs=2, fast=16, slow=8):
        super().__init__()
        self.fast = nn.LSTMCell(inputs + slow, fast)
        self.slow = nn.GRUCell(fast, slow)
        self.out = nn.Linear(fast + slow, 1)

    def begin(self, batch):
        zeros = lambda n: torch.zeros(batch, n)
        return {"fast": (zeros(self.fast.hidden_size), zeros(self.fast.hidden_size)),
                "slow": zeros(self.slow.hidden_size), "clock": 0}

    def forward(self, flow, state):
        outs = []
        for x in flow.unbind(1):
            state["fast"] = self.fast(torch.cat([x, state["slow"]], 1), state["fast"])
            state["clock"] += 1
            if state["clock"] % 5 == 0:
                state["slow"] = self.slow(state["fast"][0], state["slow"])
            outs.append(self.out(torch.cat([state["fast"][0], state["slow"]], 1)))
        return torch.cat(outs, 1), state


def cut(state):
    if isinstance(state, torch.Tensor):
        return state.detach()
    if isinstance(state, dict):
        return {k: cut(v) for k, v in state.items()}
    if isinstance(state, tuple):
        return tuple(cut(v) for v in state)
    return state


def recordings(n, samples):
    t = torch.arange(samples) / 10.0
    phase = torch.rand(n, 1) * 6.28
    flow = torch.sin(t + phase).clamp(min=-0.3)
    volume = flow.cumsum(1) / 10.0
    pressure = 0.8 * flow + 0.5 * (volume - volume.mean(1, keepdim=True))
    return torch.stack([flow, torch.sin(phase).expand_as(flow)], -1), pressure


def run(model, opt, data, tbptt=20):
    flow, pressure = data
    state = model.begin(len(flow))
    kept = []
    for start in range(0, flow.size(1), tbptt):
        end = start + tbptt
        guess, state = model(flow[:, start:end], state)
        loss = (guess - pressure[:, start:end]).abs().mean()
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        state = cut(state)
        kept.append(loss.detach())
    return torch.stack(kept).mean()


if __name__ == "__main__":
    torch.manual_seed(6)
    model = Lungs()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        print(epoch, f"{run(model, opt, recordings(12, 100)):.4f}")
