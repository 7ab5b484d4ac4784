import argparse
import time
import math
import torch
import torch.nn as nn
from torch.autograd import Variable

import data
import model

parser = argparse.ArgumentParser(description='PyTorch RNN Language Model')
parser.add_argument('--data', type=str, default='./data/penn', help='location of the data corpus')
parser.add_argument('--emsize', type=int, default=20)
parser.add_argument('--nhid', type=int, default=20)
parser.add_argument('--batch_size', type=int, default=4)
parser.add_argument('--bptt', type=int, default=5)
parser.add_argument('--clip', type=float, default=0.25)
parser.add_argument('--cuda', action='store_true')
args = parser.parse_args()

corpus = data.Corpus(args.data)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


train_data = batchify(corpus.train, args.batch_size)
ntokens = len(corpus.dictionary)
net = model.RNNModel(ntokens, args.emsize, args.nhid)
criterion = nn.CrossEntropyLoss(size_average=True)
lr = 20


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return Variable(source[i:i + seq_len]), Variable(source[i + 1:i + 1 + seq_len].view(-1))


def train():
    total_loss = 0
    hidden = net.init_hidden(args.batch_size)
    for batch, i in enumerate(xrange(0, train_data.size(0) - 1, args.bptt)):
        inputs, targets = get_batch(train_data, i)
        net.zero_grad()
        output, hidden = net(inputs, hidden)
        loss = criterion(output.view(-1, ntokens), targets)
        loss.backward(retain_variables=False)
        torch.nn.utils.clip_grad_norm(net.parameters(), args.clip)
        for p in net.parameters():
            p.data.add_(-lr, p.grad.data)
        total_loss += loss.data[0]
        if batch % 20 == 0:
            print('loss %5.2f ppl %8.2f' % (total_loss / (batch + 1), math.exp(min(total_loss / (batch + 1), 20))))


for epoch in range(1, 3):
    train()
