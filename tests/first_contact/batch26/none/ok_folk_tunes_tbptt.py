# expect: pattern = none
# expect: carrier = hidden
# Character model of folk tunes in ABC notation. Hidden state goes from piece to piece.
import math

import torch
import torch.nn as nn
from torch.autograd import Variable

TUNES = "X:1 K:G |: GABc dedB|dedB dedB|c2ec B2dB|A2F2 G4 :| " * 6
vocab = sorted(set(TUNES))
stoi = {c: i for i, c in enumerate(vocab)}
corpus = torch.LongTensor([stoi[c] for c in TUNES])


def batchify(data, bsz):
    n = data.size(0) // bsz
    return data[:n * bsz].view(bsz, n).t().contiguous()


class Tunes(nn.Module):
    def __init__(self, ntoken, nhid=24, nlayers=2):
        super(Tunes, self).__init__()
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        self.nhid, self.nlayers = nhid, nlayers
        self.init_weights()

    def init_weights(self):
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.fill_(0)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output.view(-1, self.nhid)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
                Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()))


def repackage_hidden(h):
    """Wraps hidden states in new Variables, to cut them off from their history."""
    if isinstance(h, torch.Tensor):
        return Variable(h.data)
    return tuple(repackage_hidden(v) for v in h)


torch.manual_seed(1111)
train_data = batchify(corpus, 4)
model = Tunes(len(vocab))
criterion = nn.CrossEntropyLoss()
lr, bptt, best = 5.0, 10, None

for epoch in range(1, 4):
    model.train()
    total_loss = 0
    hidden = model.init_hidden(4)
    for i in range(0, train_data.size(0) - 1, bptt):
        seq_len = min(bptt, len(train_data) - 1 - i)
        data, targets = train_data[i:i + seq_len], train_data[i + 1:i + 1 + seq_len].view(-1)
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad.data, alpha=-lr)
        total_loss += loss.data * seq_len
    total_loss = total_loss.item() / (len(train_data) - 1)
    print('| epoch {} | loss {:5.2f} | ppl {:8.2f}'.format(epoch, total_loss, math.exp(total_loss)))
    if best is None or total_loss < best:
        best = total_loss
    else:
        lr /= 4.0
