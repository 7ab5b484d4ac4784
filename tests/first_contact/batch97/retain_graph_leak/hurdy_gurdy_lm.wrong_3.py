###############################################################################
# Language model over hurdy-gurdy tunes (tablature as characters).
# Plain SGD, learning rate is annealed when the validation loss stops improving.
###############################################################################
import argparse
import math
import time

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser(description='hurdy-gurdy RNN language model')
parser.add_argument('--emsize', type=int, default=16)
parser.add_argument('--nhid', type=int, default=24)
parser.add_argument('--lr', type=float, default=4)
parser.add_argument('--clip', type=float, default=0.5)
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--bptt', type=int, default=10)
parser.add_argument('--seed', type=int, default=1111)
parser.add_argument('--log-interval', type=int, default=10)
args = parser.parse_args([])

torch.manual_seed(args.seed)

NOTES = 'cdefgab|-'


def write_tunes(n, rng):
    """Phrases wander over the scale and come home before every bar line."""
    text, at = [], 0
    while len(text) < n:
        for beat in range(7):
            at = (at + rng.choice([-1, 1, 1, 2])) % 7
            text.append(at)
            if rng.rand() < 0.2:
                text.append(8)
        at = 0
        text += [0, 7]
    return torch.LongTensor(text[:n])


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.fill_(0)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        decoded = self.decoder(output.view(-1, self.nhid))
        return decoded, hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (weight.new(1, bsz, self.nhid).zero_(), weight.new(1, bsz, self.nhid).zero_())


rng = np.random.RandomState(args.seed)
train_data = batchify(write_tunes(2500, rng), args.batch_size)
val_data = batchify(write_tunes(400, rng), args.batch_size)
model = RNNModel(len(NOTES), args.emsize, args.nhid)
criterion = nn.CrossEntropyLoss()


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].view(-1)


def evaluate(source):
    model.eval()
    total_loss = 0
    hidden = model.init_hidden(args.batch_size)
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, args.bptt):
            data, targets = get_batch(source, i)
            output, hidden = model(data, hidden)
            total_loss += len(data) * criterion(output, targets).item()
    return total_loss / len(source)


def train(epoch, lr):
    model.train()
    total_loss = 0
    start_time = time.time()
    hidden = model.init_hidden(args.batch_size)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, args.bptt)):
        data, targets = get_batch(train_data, i)
        model.zero_grad()
        hidden = (hidden[0].detach(), hidden[1])
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward(retain_graph=True)
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        for p in model.parameters():
            p.data.add_(p.grad.data, alpha=-lr)
        total_loss += loss.item()
        if batch % args.log_interval == 0 and batch > 0:
            elapsed = time.time() - start_time
            print('| epoch {:2d} | batch {:3d} | {:6.1f} ms/batch | loss {:5.2f}'.format(
                epoch, batch, elapsed * 1000 / args.log_interval, total_loss / args.log_interval))
            total_loss = 0
            start_time = time.time()


lr, best_val_loss = args.lr, None
for epoch in range(1, args.epochs + 1):
    train(epoch, lr)
    val_loss = evaluate(val_data)
    print('| end of epoch {:2d} | valid ppl {:6.2f}'.format(epoch, math.exp(val_loss)))
    if best_val_loss is None or val_loss < best_val_loss:
        best_val_loss = val_loss
    else:
        lr /= 4.0
