"""Character model trained on contiguous segments; the state goes on, its history does not."""
import torch
from torch import nn

TEXT = "the cat sat on the mat and the rat sat on the cat " * 12


def repackage(state):
    if torch.is_tensor(state):
        return state.detach()
    return type(state)(repackage(s) for s in state)


class CharModel(nn.Module):
    def __init__(self, vocab, d=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.rnns = nn.ModuleList([nn.LSTM(d, d), nn.GRU(d, d)])
        self.out = nn.Linear(d, vocab)
        self.out.weight = self.embed.weight

    def initial(self, batch, d=24):
        z = torch.zeros(1, batch, d)
        return [(z, z.clone()), z.clone()]

    def forward(self, x, states):
        h, new = self.embed(x), []
        for rnn, state in zip(self.rnns, states):
            h, state = rnn(h, state)
            new.append(state)
        return self.out(h), new


def segments(ids, batch, length):
    columns = ids[: len(ids) // batch * batch].view(batch, -1).t().contiguous()
    for i in range(0, len(columns) - 1 - length, length):
        yield columns[i:i + length], columns[i + 1:i + 1 + length]


def main():
    torch.manual_seed(3)
    vocab = sorted(set(TEXT))
    ids = torch.tensor([vocab.index(c) for c in TEXT])
    model = CharModel(len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    def run_epoch():
        states, total, n = model.initial(8), 0.0, 0
        for x, y in segments(ids, 8, 12):
            states = repackage(states)
            logits, states = model(x, states)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total, n = total + loss.item(), n + 1
        return total / n

    for epoch in range(3):
        print(epoch, round(run_epoch(), 4))


main()
