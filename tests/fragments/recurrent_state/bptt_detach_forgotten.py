# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = hidden
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Embedding(20, 8)
        self.rnn = nn.LSTM(8, 8)
        self.decoder = nn.Linear(8, 20)

    def forward(self, x, h):
        o, h = self.rnn(self.encoder(x), h)
        return self.decoder(o), h

    def init_hidden(self, bsz):
        return (torch.zeros(1, bsz, 8), torch.zeros(1, bsz, 8))


model = RNNModel()
train_data = torch.randint(0, 20, (16, 4))
ntokens = 20
batch_size = 4
bptt = 5
lr = 0.1
criterion = nn.CrossEntropyLoss()


def get_batch(source, i):
    n = min(bptt, len(source) - 1 - i)
    return source[i : i + n], source[i + 1 : i + 1 + n].reshape(-1)


# paste: begin
def train():
    model.train()
    hidden = model.init_hidden(batch_size)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        model.zero_grad()
        output, hidden = model(data, hidden)  # expect: place
        loss = criterion(output.view(-1, ntokens), targets)
        loss.backward()  # expect: place
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)


# paste: end
train()
