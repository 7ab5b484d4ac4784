"""Next note of psalm tones; long chants are read in segments with a memory between them."""
import argparse

import torch
import torch.nn.functional as F

from model import ChantModel


def chants(n, length, n_notes, generator):
    """A reciting note, which returns, with ornaments drawn around it."""
    tenor = torch.randint(2, n_notes - 2, (n, 1), generator=generator)
    ornament = torch.randint(-1, 2, (n, length), generator=generator)
    ornament[:, ::3] = 0
    return tenor + ornament


def train_batch(model, optimizer, batch, segment):
    model.reset_memory(len(batch))
    total, count = 0.0, 0
    for start in range(0, batch.shape[1] - 1, segment):
        inputs = batch[:, start : start + segment]
        targets = batch[:, start + 1 : start + segment + 1]
        inputs = inputs[:, : targets.shape[1]]
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--segment", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    torch.manual_seed(11)
    data = chants(24, 33, 12, torch.Generator().manual_seed(11))
    model = ChantModel(12)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        losses = [train_batch(model, optimizer, b, args.segment) for b in data.split(8)]
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
