# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = memory, memory_container, self.memory_container, updated, node_memory
"""Which two junctions jam together next? Link prediction on a stream of road events."""
import numpy as np
import torch
from torch import nn

from tgn import TGN


def event_stream(n, junctions, rng):
    t = np.cumsum(rng.exponential(0.2, n)).astype("float32")
    src = rng.randint(0, junctions, n)
    dst = (src + rng.randint(1, 4, n)) % junctions
    feat = torch.from_numpy(rng.randn(n, 3).astype("float32"))
    return src, dst, t, feat


def run_epoch(model, stream, optimizer, batch_size, rng, junctions):
    criterion = nn.BCEWithLogitsLoss()
    src, dst, t, feat = stream
    model.memory.init_memory()
    model.raw_messages = []
    total = 0.0
    for start in range(0, len(src), batch_size):
        part = slice(start, start + batch_size)
        wrong = rng.randint(0, junctions, len(src[part]))
        positive, negative = model(src[part], dst[part], wrong, t[part], feat[part])
        loss = criterion(positive, torch.ones_like(positive)) + criterion(negative, torch.zeros_like(negative))
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        total += loss.item()
    return total / (len(src) / batch_size)


if __name__ == "__main__":
    torch.manual_seed(5)
    rng = np.random.RandomState(5)
    junctions = 20
    stream = event_stream(120, junctions, rng)
    model = TGN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        print(epoch, run_epoch(model, stream, optimizer, 20, rng, junctions))
