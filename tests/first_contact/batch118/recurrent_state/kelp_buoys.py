# expect: pattern = recurrent-state
# expect: also = manual-tbptt
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state
"""Forecast the swell at kelp farms from buoys, window after window of one long recording."""

import torch
from torch import nn

WINDOW = 12
HIDDEN = 16


class BuoyCell(nn.Module):
    """A GRU cell that also listens to slow averages of what it has seen."""

    def __init__(self, channels):
        super().__init__()
        self.fast = nn.GRUCell(channels + 2 * channels, HIDDEN)
        self.tide = nn.Linear(channels, channels)
        self.storm = nn.Linear(channels, channels)
        self.forecast = nn.Linear(HIDDEN, channels)

    def fresh(self, batch, channels):
        zeros = torch.zeros(batch, channels)
        return torch.zeros(batch, HIDDEN), {"tide": zeros, "storm": zeros}

    def forward(self, reading, state):
        hidden, slow = state  # expect: place
        tide = 0.9 * slow["tide"] + 0.1 * self.tide(reading)  # expect: place
        storm = 0.6 * slow["storm"] + 0.4 * self.storm(reading).abs()  # expect: place
        hidden = self.fast(torch.cat([reading, tide, storm], dim=1), hidden)
        return self.forecast(hidden), (hidden, {"tide": tide, "storm": storm})  # expect: place


def unhook(state):
    """The same state, without its past. Works for any nesting."""
    if isinstance(state, torch.Tensor):
        return state.detach()
    if isinstance(state, (tuple, list)):
        return type(state)(unhook(part) for part in state)
    return state  # expect: place


def windows(recording, length):
    """(readings, the readings that follow each of them), in order of time."""
    for start in range(0, len(recording) - length, length):
        piece = recording[start : start + length + 1]
        yield piece[:-1], piece[1:]


def swell(hours, farms, channels=3):
    clock = torch.arange(hours, dtype=torch.float32)[:, None, None]
    pace = torch.rand(1, farms, channels) * 0.4 + 0.1
    phase = torch.rand(1, farms, channels) * 6.28
    return torch.sin(pace * clock + phase) + 0.05 * torch.randn(hours, farms, channels)


def run_window(cell, readings, followers, state):
    loss = 0.0
    for reading, follower in zip(readings, followers):
        guess, state = cell(reading, state)
        loss = loss + nn.functional.mse_loss(guess, follower)
    return loss / len(readings), state


def train(cell, recording, passes):
    optimizer = torch.optim.RMSprop(cell.parameters(), lr=2e-3)
    for number in range(passes):
        state = cell.fresh(recording.shape[1], recording.shape[2])
        losses = []
        for readings, followers in windows(recording, WINDOW):
            state = unhook(state)  # expect: place
            loss, state = run_window(cell, readings, followers, state)
            optimizer.zero_grad()
            loss.backward()  # expect: place
            nn.utils.clip_grad_norm_(cell.parameters(), 2.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"pass {number}: first window {losses[0]:.3f}, last {losses[-1]:.3f}")


if __name__ == "__main__":
    torch.manual_seed(30)
    train(BuoyCell(channels=3), swell(hours=61, farms=6), passes=2)
