# expect: pattern = recurrent-state
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = tail
"""Chunk-by-chunk training of the wake word detector.

The device sees 12 frames at a time, so training does as well: the net is fed
in chunks and keeps the left context of every convolution by itself.
"""
import torch
import torch.nn.functional as F

from detector import WakeWordNet
from features import utterances

torch.manual_seed(31)

CHUNK = 12
KEYWORDS = ["<filler>", "lamp", "music", "stop"]


def train_one_epoch(net, optimizer, batches):
    hits = total = 0
    running = 0.0
    for frames, labels in batches:
        net.start_stream()
        for chunk, label in zip(frames.split(CHUNK, dim=2), labels.split(CHUNK, dim=1)):
            net.start_stream()
            logits = net(chunk)  # expect: place
            loss = F.cross_entropy(logits.transpose(1, 2).reshape(-1, len(KEYWORDS)), label.reshape(-1))
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
            running += loss.item()
            hits += (logits.argmax(dim=1) == label).sum().item()
            total += label.numel()
    return running, hits / total


def main():
    net = WakeWordNet(bands=20, classes=len(KEYWORDS))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    batches = [utterances(8, 48, 20, len(KEYWORDS)) for _ in range(4)]
    for epoch in range(3):
        loss, acc = train_one_epoch(net, optimizer, batches)
        print(f"[{epoch}] loss {loss:.3f} frame accuracy {acc:.1%}")


if __name__ == "__main__":
    main()
