# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = _influence
"""Fit smearing and charge scale of the long-range term to reference energies."""

import torch

from frames import make_frames
from potential import LongRangePotential

SETTINGS = {"frames": 12, "atoms": 10, "lr": 0.03, "epochs": 3, "batch": 4}


def batches(frames, size):
    for start in range(0, len(frames), size):
        yield frames[start : start + size]


def train_one_epoch(model, optimizer, frames):
    total = 0.0
    for batch in batches(frames, SETTINGS["batch"]):
        optimizer.zero_grad()
        errors = [(model(f) - f.energy) / len(f.charges) for f in batch]
        loss = torch.stack(errors).pow(2).mean()
        loss.backward()  # expect: place
        optimizer.step()
        total += loss.item()
    return total


def main():
    generator = torch.Generator().manual_seed(5)
    torch.manual_seed(5)
    frames = make_frames(SETTINGS["frames"], SETTINGS["atoms"], generator)
    model = LongRangePotential()
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    for epoch in range(SETTINGS["epochs"]):
        total = train_one_epoch(model, optimizer, frames)
        smearing = model.log_smearing.exp().item()
        print(f"epoch {epoch}: loss {total:.5f}, smearing {smearing:.3f}")


if __name__ == "__main__":
    main()
