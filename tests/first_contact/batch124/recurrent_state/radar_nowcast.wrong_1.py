"""ConvLSTM nowcasting: predict the next rain frame from the frames seen so far."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(3)
rng = np.random.default_rng(3)


def make_movie(length, size=12):
    ys, xs = np.mgrid[0:size, 0:size]
    frames = []
    cy, cx = rng.uniform(0, size, 2)
    for t in range(length):
        cy, cx = (cy + 0.7) % size, (cx + 0.4) % size
        frames.append(np.exp(-((ys - cy) ** 2 + (xs - cx) ** 2) / 6.0))
    return np.stack(frames).astype(np.float32)


class ConvLSTMCell(nn.Module):
    def __init__(self, in_ch, hid_ch, k=3):
        super().__init__()
        self.hid_ch = hid_ch
        self.gates = nn.Conv2d(in_ch + hid_ch, 4 * hid_ch, k, padding=k // 2)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class Nowcaster(nn.Module):
    def __init__(self, hid_ch=6):
        super().__init__()
        self.cell = ConvLSTMCell(1, hid_ch)
        self.head = nn.Conv2d(hid_ch, 1, 1)
        self.state = None

    def reset_state(self):
        self.state = None

    def forward(self, clip):
        batch, steps, _, height, width = clip.shape
        if self.state is None:
            zeros = clip.new_zeros(batch, self.cell.hid_ch, height, width)
            self.state = (zeros, zeros)
        state = self.state
        outputs = []
        for t in range(steps):
            state = self.cell(clip[:, t], state)
            outputs.append(self.head(state[0]))
        self.state = state
        return torch.stack(outputs, dim=1)


WINDOW = 5
movies = torch.from_numpy(np.stack([make_movie(26) for _ in range(4)])).unsqueeze(2)

net = Nowcaster()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(2):
    net.reset_state()
    total = 0.0
    # the windows of a movie come one after the other, so the storm is followed all the way
    for start in range(0, movies.size(1) - 1, WINDOW):
        clip = movies[:, start : start + WINDOW]
        target = movies[:, start + 1 : start + 1 + WINDOW]
        pred = net(clip)
        loss = criterion(pred, target)
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: {total:.4f}")
