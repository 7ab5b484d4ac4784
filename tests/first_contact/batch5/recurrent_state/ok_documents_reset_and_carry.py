"""Character model over short documents. States go on within a document and start anew with the next one."""
import torch
import torch.nn as nn

TEXTS = ["the heron stands in the reeds and waits", "a kettle sings before it boils over",
         "rain on tin is the oldest drum there is"]
CHARS = sorted(set("".join(TEXTS)))


def chunks(text, size=8):
    ids = torch.tensor([CHARS.index(c) for c in text])
    for i in range(0, len(ids) - size, size):
        yield ids[i:i + size], ids[i + 1:i + size + 1]


class Writer(nn.Module):
    def __init__(self, n=24):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(len(CHARS), 8), nn.LSTM(8, n, 2), nn.Linear(n, len(CHARS))

    def forward(self, ids, state):
        y, state = self.rnn(self.emb(ids)[:, None], state)
        return self.out(y[:, 0]), state


torch.manual_seed(7)
net = Writer()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(2):
    nats, n = 0.0, 0
    for text in TEXTS:
        state = None
        for x, y in chunks(text):
            if state is not None:
                state = tuple(s.detach() for s in state)
            logits, state = net(x, state)
            loss = nn.functional.cross_entropy(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            nats, n = nats + loss.item() * len(x), n + len(x)
    print(epoch, round(nats / n, 4))
