# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = h, hidden, c
# Online learning with a coroutine: the reader keeps its LSTM state in local variables and
# is fed one chunk at a time with .send().
import random

import torch
import torch.nn as nn

random.seed(77)
torch.manual_seed(77)

VOCAB = "abcd "
stoi = {ch: i for i, ch in enumerate(VOCAB)}


def babble(n):
    words = ["abba", "dad", "cab", "bad"]
    text = ""
    while len(text) < n:
        text += random.choice(words) + " "
    return text[:n]


class CharLM(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.table = nn.Embedding(len(VOCAB), dim)
        self.lstm = nn.LSTMCell(dim, dim)
        self.proj = nn.Linear(dim, len(VOCAB))

    def reader(self):
        """Coroutine: takes an index tensor, gives the logits for each of its characters."""
        h = c = torch.zeros(1, self.lstm.hidden_size)
        logits = None
        while True:
            chunk = yield logits
            steps = []
            for idx in chunk:
                h, c = self.lstm(self.table(idx)[None], (h, c))  # expect: place
                steps.append(self.proj(h))
            logits = torch.cat(steps)


def chunks(ids, size):
    for i in range(0, len(ids) - size, size):
        yield ids[i:i + size], ids[i + 1:i + size + 1]


lm = CharLM()
opt = torch.optim.Adam(lm.parameters(), lr=0.01)
ids = torch.tensor([stoi[c] for c in babble(121)])

reader = lm.reader()
next(reader)
losses = []
for x, y in chunks(ids, 10):
    logits = reader.send(x)
    loss = nn.functional.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
    losses.append(loss.item())
reader.close()

print("bits per char: first %.2f, last %.2f" % (losses[0] / 0.6931, losses[-1] / 0.6931))
