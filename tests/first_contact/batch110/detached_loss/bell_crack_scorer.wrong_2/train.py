"""Cracked or sound? Church bells from the first partials after the stroke."""
import torch

from bells import strokes
from engine import Engine


def main():
    torch.manual_seed(10)
    engine = Engine(partials=10, lr=0.02)
    train_set, dev_set = strokes(400, 1), strokes(200, 2)
    best = 0.0
    for epoch in range(5):
        mean_loss = engine.train_epoch(*train_set)
        auc = engine.validate(*dev_set)
        marker = "*" if auc > best else ""
        best = max(best, auc)
        print(f"epoch {epoch}: loss {mean_loss:.4f}, auc {auc:.3f} {marker}")


if __name__ == "__main__":
    main()
