"""A stitch-level language model of lace knitting charts (after the old word_language_model example)."""
import math
import random
import time

import torch
import torch.nn as nn

STITCHES = ["k", "p", "yo", "k2tog", "ssk", "sl", "cdd", "<row>"]
IDX = {s: i for i, s in enumerate(STITCHES)}
BPTT, BSZ, EMSIZE, NHID, CLIP = 8, 6, 12, 24, 0.5


def knit(n_rows, rng):
    motifs = [["k", "k", "yo", "k2tog"], ["yo", "ssk", "k", "k"], ["yo", "cdd", "yo", "k"], ["p", "p", "k", "k"]]
    chart, motif = [], rng.choice(motifs)
    for row in range(n_rows):
        if row % 4 == 0:
            motif = rng.choice(motifs)
        stitches = motif * 3 if row % 2 == 0 else ["p"] * 12
        if rng.random() < 0.1:
            stitches = stitches[:-1] + ["sl"]
        chart += stitches + ["<row>"]
    return torch.LongTensor([IDX[s] for s in chart])


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


def get_batch(source, i):
    seq_len = min(BPTT, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        self.encoder.weight.data.uniform_(-0.3, 0.3)
        self.decoder.bias.data.fill_(0)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output.view(-1, self.nhid)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return weight.new(1, bsz, self.nhid).zero_(), weight.new(1, bsz, self.nhid).zero_()


def evaluate(model, source, criterion):
    model.eval()
    total = 0.0
    hidden = model.init_hidden(BSZ)
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, BPTT):
            data, targets = get_batch(source, i)
            output, hidden = model(data, hidden)
            total += len(data) * criterion(output, targets).item()
    return total / (len(source) - 1)


def train(model, source, criterion, lr, epoch):
    model.train()
    total, start = 0.0, time.time()
    hidden = model.init_hidden(BSZ)
    for batch, i in enumerate(range(0, source.size(0) - 1, BPTT), 1):
        data, targets = get_batch(source, i)
        model.zero_grad()
        hidden = model.init_hidden(BSZ)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        for p in model.parameters():
            p.data.add_(p.grad.data, alpha=-lr)
        total += loss.item()
        if batch % 8 == 0:
            ms = (time.time() - start) * 1000 / 8
            print("| epoch %d | %2d batches | %5.1f ms/batch | ppl %6.2f" % (epoch, batch, ms, math.exp(total / 8)))
            total, start = 0.0, time.time()


def main():
    torch.manual_seed(80)
    rng = random.Random(80)
    train_data, val_data = batchify(knit(96, rng), BSZ), batchify(knit(30, rng), BSZ)
    model = RNNModel(len(STITCHES), EMSIZE, NHID)
    criterion = nn.CrossEntropyLoss()
    lr, best = 4.0, None
    for epoch in (1, 2, 3):
        train(model, train_data, criterion, lr, epoch)
        val = evaluate(model, val_data, criterion)
        print("| end of epoch %d | valid ppl %.2f" % (epoch, math.exp(val)))
        if best is None or val < best:
            best = val
        else:
            lr /= 4
    return model


if __name__ == "__main__":
    main()
