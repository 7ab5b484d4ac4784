# expect: pattern = none
"""Next-note model over long tunes: the loss of a chunk is summed note by note, then the state is cut."""
import math

import torch
import torch.nn as nn

torch.manual_seed(17)
NOTES, CHUNK, STREAMS, LENGTH = 12, 8, 4, 96


class Player(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(NOTES, 16)
        self.cells = nn.ModuleList([nn.GRUCell(16, hidden), nn.GRUCell(hidden, hidden)])
        self.head = nn.Linear(hidden, NOTES)
        self.state = None

    def start(self, n):
        self.state = [torch.zeros(n, cell.hidden_size) for cell in self.cells]

    def cut(self):
        for h in self.state:
            h.detach_()

    def forward(self, note):
        x = self.embed(note)
        for i, cell in enumerate(self.cells):
            self.state[i] = x = cell(x, self.state[i])
        return self.head(x)


def tunes():
    step = torch.randint(1, 5, (STREAMS, 1))
    first = torch.randint(0, NOTES, (STREAMS, 1))
    t = torch.arange(LENGTH + 1)
    return (first + step * t + (t % 4 == 0).long()) % NOTES


player = Player()
opt = torch.optim.RMSprop(player.parameters(), lr=4e-3)
for epoch in range(3):
    notes = tunes()
    player.start(STREAMS)
    total, chunk_loss = 0.0, 0.0
    for t in range(LENGTH):
        logits = player(notes[:, t])
        chunk_loss = chunk_loss + nn.functional.cross_entropy(logits, notes[:, t + 1])
        if (t + 1) % CHUNK == 0:
            opt.zero_grad()
            (chunk_loss / CHUNK).backward()
            nn.utils.clip_grad_norm_(player.parameters(), 1.0)
            opt.step()
            player.cut()
            total += chunk_loss.item()
            chunk_loss = 0.0
    print(f"epoch {epoch}: perplexity {math.exp(total / LENGTH):.2f}")
