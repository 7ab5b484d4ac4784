"""Web tension of a paper machine, one reel after the other: foretell the tension a second ahead.

Four draw sections are logged at 10 Hz. A reel is read from its core to its end, in windows, by a
stack of two cells that remembers what came before on the same reel.
"""
import time
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn

SECTIONS = 4
AHEAD = 10
WINDOW = 25


def make_reel(rng, metres):
    """Roll eccentricity makes a beat, moisture streaks drift slowly, and the sensors are noisy."""
    t = np.arange(metres)
    beat = np.sin(2 * np.pi * t / rng.uniform(17, 29) + rng.uniform(0, 6))
    drift = np.cumsum(rng.normal(0, 0.05, metres))
    tension = 0.7 * beat + drift - drift.mean()
    lags = [np.roll(tension, k) for k in (0, 3, 5, 9)]
    return np.stack(lags, 1) + rng.normal(0, 0.1, (metres, SECTIONS)), tension


class DrawStack(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        sizes = [SECTIONS] + [width] * depth
        self.cells = nn.ModuleList(nn.LSTMCell(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)

    def blank(self, batch):
        return [(torch.zeros(batch, cell.hidden_size), torch.zeros(batch, cell.hidden_size))
                for cell in self.cells]

    def forward(self, frames, states):
        guesses = []
        for frame in frames:
            below = frame
            fresh = []
            for cell, state in zip(self.cells, states):
                h, c = cell(below, state)
                fresh.append((h, c))
                below = h
            states = fresh
            guesses.append(self.out(below).squeeze(-1))
        return torch.stack(guesses), states


def windows(reels):
    """(time, reel, section) pieces and their targets; the last incomplete piece is left out."""
    frames = torch.tensor(np.stack([r[0] for r in reels], 1), dtype=torch.float32)
    target = torch.tensor(np.stack([r[1] for r in reels], 1), dtype=torch.float32)
    for start in range(0, len(frames) - WINDOW - AHEAD, WINDOW):
        yield frames[start:start + WINDOW], target[start + AHEAD:start + WINDOW + AHEAD]


def train_epoch(model, optimizer, reels, log):
    model.train()
    states = model.blank(len(reels))
    for number, (frames, target) in enumerate(windows(reels)):
        # carry the values over from window to window, not the history
        states = model.blank(len(reels))
        guess, states = model(frames, states)
        loss = nn.functional.huber_loss(guess, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        log["loss"].append(loss.item())
        log["window"].append(number)


@torch.no_grad()
def evaluate(model, reels):
    model.eval()
    states = model.blank(len(reels))
    errors, naive = [], []
    for frames, target in windows(reels):
        guess, states = model(frames, states)
        errors.append((guess - target).abs().mean())
        naive.append((frames[..., 0] - target).abs().mean())
    return torch.stack(errors).mean().item(), torch.stack(naive).mean().item()


if __name__ == "__main__":
    torch.manual_seed(12)
    rng = np.random.default_rng(12)
    train = [make_reel(rng, 300) for _ in range(8)]
    held_out = [make_reel(rng, 300) for _ in range(4)]
    model = DrawStack()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    log = defaultdict(list)
    for epoch in range(5):
        began = time.perf_counter()
        train_epoch(model, optimizer, train, log)
        error, naive = evaluate(model, held_out)
        recent = np.mean(log["loss"][-5:])
        took = time.perf_counter() - began
        print(f"epoch {epoch} loss {recent:.4f} error {error:.3f} (naive {naive:.3f}) {took:.1f} s")
