# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state, tail
"""Echo canceller for full-duplex calls: trained frame block by frame block on one long call."""
import torch
import torch.nn as nn


class EchoNet(nn.Module):
    """A recurrent part, and an overlap-add tail that runs over from one block into the next."""

    def __init__(self, frame=16, hidden=24):
        super().__init__()
        self.frame = frame
        self.cell = nn.GRUCell(2 * frame, hidden)
        self.synth = nn.Linear(hidden, 2 * frame)

    def start(self):
        return {"h": torch.zeros(1, self.cell.hidden_size), "tail": torch.zeros(1, self.frame)}

    def forward(self, far, mic, state):
        h, tail = state["h"], state["tail"]
        out = []
        for f, m in zip(far, mic):
            h = self.cell(torch.cat([f, m]).unsqueeze(0), h)
            wide = torch.tanh(self.synth(h))
            out.append(wide[:, :self.frame] + tail)
            tail = wide[:, self.frame:]  # expect: place
        return torch.cat(out), {"h": h, "tail": tail}  # expect: place


def call(n_frames, frame=16):
    """Far-end speech, and what the microphone hears of it through a short room."""
    n = n_frames * frame
    t = torch.arange(n) / 40.0
    far = torch.sin(t) * torch.sin(0.13 * t) + 0.1 * torch.randn(n)
    room = torch.tensor([0.5, 0.0, 0.25, -0.1])
    echo = sum(g * torch.roll(far, k) for k, g in enumerate(room))
    return far.view(-1, frame), (echo + 0.02 * torch.randn(n)).view(-1, frame), echo.view(-1, frame)


def keep(state):
    """Carry the state on, without the block it comes from."""
    return {"h": state["h"].detach(), "tail": state["tail"].detach()}  # expect: place


def train(epochs=3, block=6):
    torch.manual_seed(12)
    far, mic, echo = call(72)
    net = EchoNet()
    opt = torch.optim.Adam(net.parameters(), lr=6e-3)
    for epoch in range(epochs):
        state = net.start()
        err = 0.0
        for i in range(0, len(far), block):
            part = slice(i, i + block)
            guess, state = net(far[part], mic[part], state)  # expect: place
            loss = (guess - echo[part]).pow(2).mean()
            opt.zero_grad()
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            state = keep(state)
            err += loss.item()
        print(f"epoch {epoch}  echo error {err * block / len(far):.4f}")


if __name__ == "__main__":
    train()
