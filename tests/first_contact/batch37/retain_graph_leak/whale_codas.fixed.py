"""Click codas of sperm whales as a language. Every batch takes a bit longer than the one before it, after an hour
it crawls. (Update rule from the word language model example, no torch.optim.)"""
import time

import torch
import torch.nn as nn


class CodaLSTM(nn.Module):
    def __init__(self, ntoken, ninp, nhid, batch):
        super(CodaLSTM, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.i2h = nn.Linear(ninp, 4 * nhid)
        self.h2h = nn.Linear(nhid, 4 * nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        self.batch = batch
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return (torch.zeros(self.batch, self.nhid), torch.zeros(self.batch, self.nhid))

    def step(self, x, hidden):
        h, c = hidden
        i, f, g, o = (self.i2h(x) + self.h2h(h)).chunk(4, 1)
        c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def forward(self, data):
        out = []
        for x in self.encoder(data):
            self.hidden = self.step(x, self.hidden)
            out.append(self.hidden[0])
        return self.decoder(torch.stack(out))


def batchify(stream, bsz):
    nbatch = stream.size(0) // bsz
    return stream[: nbatch * bsz].view(bsz, -1).t().contiguous()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].view(-1)


def codas(n, ntoken):
    table = torch.softmax(2.5 * torch.randn(ntoken, ntoken), 1)
    token, out = 0, []
    for _ in range(n):
        token = int(torch.multinomial(table[token], 1))
        out.append(token)
    return torch.tensor(out)


def train(model, source, lr, clip, bptt):
    criterion = nn.CrossEntropyLoss()
    model.hidden = model.init_hidden()
    start = time.time()
    for batch, i in enumerate(range(0, source.size(0) - 1, bptt)):
        data, targets = get_batch(source, i, bptt)
        model.zero_grad()
        model.hidden = tuple(h.detach() for h in model.hidden)
        output = model(data)
        loss = criterion(output.view(-1, output.size(-1)), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        if batch % 3 == 0:
            print("batch %3d | ms %6.1f | loss %.3f" % (batch, 1000 * (time.time() - start), loss.item()))
            start = time.time()


torch.manual_seed(1111)
ntoken = 9
source = batchify(codas(600, ntoken), 8)
model = CodaLSTM(ntoken, 12, 20, 8)
for epoch in range(2):
    train(model, source, lr=2.0, clip=0.5, bptt=6)
