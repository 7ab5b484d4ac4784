"""A character LSTM whose state crosses batches

Learns a short text; the hidden state is handed from one batch to the next.
"""

import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog. " * 40
CHARS = sorted(set(TEXT))
INDEX = {char: i for i, char in enumerate(CHARS)}
BATCH, STEPS = 8, 16


class CharModel(nn.Module):
    def __init__(self, vocabulary, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, chars, state):
        out, state = self.lstm(self.embed(chars), state)
        return self.head(out), state


def batches():
    data = torch.tensor([INDEX[char] for char in TEXT])
    rows = data[: len(data) // BATCH * BATCH].view(BATCH, -1)
    for start in range(0, rows.size(1) - STEPS - 1, STEPS):
        yield rows[:, start : start + STEPS], rows[:, start + 1 : start + STEPS + 1]


torch.manual_seed(0)
model = CharModel(len(CHARS))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()

hidden = (torch.zeros(1, BATCH, 32), torch.zeros(1, BATCH, 32))
for step, (chars, targets) in enumerate(batches()):
    logits, hidden = model(chars, hidden)
    loss = criterion(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.3f}")
