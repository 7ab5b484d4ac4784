# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = state, states
import random

import torch
import torch.nn as nn

config = dict(
    seed=9, vocab=12, emb=8, layers=[16, 16], dropout=0.1, batch=4, bptt=6, chunks=9, lr=0.02, clip=1.0,
)


class StackedGRU(nn.Module):
    """GRU cells on top of each other. The state is a dict: {"layer0": h, "layer1": h, ...}."""

    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg["vocab"], cfg["emb"])
        sizes = [cfg["emb"]] + cfg["layers"]
        self.cells = nn.ModuleDict({
            f"layer{i}": nn.GRUCell(a, b) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))
        })
        self.drop = nn.Dropout(cfg["dropout"])
        self.out = nn.Linear(sizes[-1], cfg["vocab"])

    def begin_state(self, batch):
        return {name: torch.zeros(batch, cell.hidden_size) for name, cell in self.cells.items()}

    def forward(self, tokens, state):
        logits = []
        for tok in tokens.t():
            h = self.drop(self.embed(tok))
            for name, cell in self.cells.items():
                state[name] = cell(h, state[name])  # expect: place
                h = self.drop(state[name])
            logits.append(self.out(h))
        return torch.stack(logits, dim=1), state


def corpus(cfg):
    rng = random.Random(cfg["seed"])
    rows = []
    for _ in range(cfg["batch"]):
        tok, row = rng.randrange(cfg["vocab"]), []
        for _ in range(cfg["bptt"] * cfg["chunks"] + 1):
            row.append(tok)
            tok = (tok + rng.choice([1, 1, 1, 5])) % cfg["vocab"]
        rows.append(row)
    return torch.tensor(rows)


def train_epoch(model, optimizer, data, cfg):
    criterion = nn.CrossEntropyLoss()
    state = model.begin_state(cfg["batch"])
    total = 0.0
    for i in range(0, data.size(1) - 1, cfg["bptt"]):
        x, y = data[:, i:i + cfg["bptt"]], data[:, i + 1:i + 1 + cfg["bptt"]]
        logits, state = model(x, state)  # expect: place
        loss = criterion(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
        optimizer.step()
        total += loss.item()
    return total / cfg["chunks"]


torch.manual_seed(config["seed"])
model = StackedGRU(config)
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
data = corpus(config)
for epoch in range(2):
    print("epoch %d | loss %.3f" % (epoch, train_epoch(model, optimizer, data, config)))
