"""Wool classing: fibre diameter and crimp from scans across a lock."""
import torch

from fleece import FleeceModule, scans
from loop import Loop


def main():
    torch.manual_seed(64)
    torch.set_num_threads(1)
    x, y = scans(480)
    vx, vy = scans(160)
    module = FleeceModule(width=16)
    loop = Loop(epochs=3, batch=12, show=20)
    history = loop.fit(module, (x, y), (vx, vy))
    best = min(range(len(history)), key=lambda e: history[e]["val_diameter"])
    print(f"best epoch {best}: diameter off by {history[best]['val_diameter']:.3f}")


if __name__ == "__main__":
    main()
