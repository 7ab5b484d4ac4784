"""Dialogue state tracking with an external memory, turn by turn."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from memory import SlotMemory


class Tracker(nn.Module):
    def __init__(self, vocabulary, labels, width, slots):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocabulary, width, mode="mean")
        self.memory = SlotMemory(slots, width)
        self.query = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.classify = nn.Linear(2 * width, labels)

    def forward(self, batch):
        tokens = batch["tokens"]
        self.memory.reset(tokens.shape[0])
        logits = []
        for turn in range(tokens.shape[1]):
            utterance = torch.tanh(self.embed(tokens[:, turn]))
            recalled = self.memory.read(self.query(utterance))
            logits.append(self.classify(torch.cat([utterance, recalled], dim=-1)))
            self.memory.write(self.value(utterance))
        return torch.stack(logits, dim=1)


def dialogues(count, args):
    """The label of a turn is the topic that came up first in its dialogue."""
    for _ in range(count):
        tokens = torch.randint(0, args.vocabulary, (args.batch_size, args.turns, 6))
        topic = tokens[:, :1, 0] % args.labels
        yield {"tokens": tokens, "label": topic.expand(-1, args.turns)}


def train(model, args):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        running = 0.0
        for batch in dialogues(args.batches, args):
            logits = model(batch)
            loss = F.cross_entropy(logits.flatten(0, 1), batch["label"].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch}: loss {running / args.batches:.4f}")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocabulary", type=int, default=40)
    parser.add_argument("--labels", type=int, default=5)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=3e-3)
    return parser.parse_args()


if __name__ == "__main__":
    torch.manual_seed(0)
    arguments = parse()
    train(Tracker(arguments.vocabulary, arguments.labels, arguments.width, arguments.slots), arguments)
