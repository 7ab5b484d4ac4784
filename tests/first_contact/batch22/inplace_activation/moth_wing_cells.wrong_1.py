"""Searched cells for moth wings (code for the paper; the genotype is fixed here).

python train_cells.py --drop_path_prob 0.2
"""
import argparse
import logging
import sys
from collections import namedtuple

import torch
import torch.nn as nn

Genotype = namedtuple('Genotype', 'normal concat')
WINGS_V2 = Genotype(normal=[('sep_conv_3x3', 0), ('gated_conv', 1), ('skip_connect', 0), ('gated_conv', 2)], concat=[2, 3])

parser = argparse.ArgumentParser('moths')
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch_size', type=int, default=12)
parser.add_argument('--init_channels', type=int, default=8)
parser.add_argument('--layers', type=int, default=2)
parser.add_argument('--learning_rate', type=float, default=0.05)
parser.add_argument('--drop_path_prob', type=float, default=0.2)
parser.add_argument('--grad_clip', type=float, default=5)
parser.add_argument('--seed', type=int, default=4)
args = parser.parse_args([] if len(sys.argv) < 2 else None)
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format='%(message)s')


class SepConv(nn.Module):
    def __init__(self, C):
        super().__init__()
        self.op = nn.Sequential(nn.Conv2d(C, C, 3, padding=1, groups=C), nn.Conv2d(C, C, 1), nn.BatchNorm2d(C))

    def forward(self, x):
        return self.op(torch.relu(x))


class GatedConv(nn.Module):
    def __init__(self, C):
        super().__init__()
        self.conv = nn.Conv2d(C, C, 3, padding=1)
        self.gate = nn.Conv2d(C, C, 1)

    def forward(self, x):
        return torch.tanh(self.conv(x)) * torch.sigmoid(self.gate(x))


class SqueezeGate(GatedConv):
    def forward(self, x):
        return torch.sigmoid(self.gate(torch.tanh(self.conv(x))))


OPS = {'sep_conv_3x3': SepConv, 'gated_conv': SqueezeGate, 'skip_connect': lambda C: nn.Identity()}


def drop_path(x, drop_prob):
    if drop_prob > 0.:
        keep_prob = 1. - drop_prob
        mask = torch.empty(x.size(0), 1, 1, 1).bernoulli_(keep_prob)
        x.data.div_(keep_prob)
        x.data.mul_(mask)
    return x


class Cell(nn.Module):
    def __init__(self, genotype, C_prev, C):
        super().__init__()
        self.preprocess = nn.Sequential(nn.Conv2d(C_prev, C, 1), nn.BatchNorm2d(C))
        names, self._indices = zip(*genotype.normal)
        self._ops = nn.ModuleList([OPS[name](C) for name in names])
        self._concat = genotype.concat

    def forward(self, s, drop_prob):
        states = [self.preprocess(s), torch.relu(self.preprocess(s))]
        for i in range(len(self._ops) // 2):
            op1, op2 = self._ops[2 * i], self._ops[2 * i + 1]
            h1 = op1(states[self._indices[2 * i]])
            h2 = op2(states[self._indices[2 * i + 1]])
            if self.training and drop_prob > 0.:
                if not isinstance(op1, nn.Identity):
                    h1 = drop_path(h1, drop_prob)
                if not isinstance(op2, nn.Identity):
                    h2 = drop_path(h2, drop_prob)
            states.append(h1 + h2)
        return torch.cat([states[i] for i in self._concat], dim=1)


class Network(nn.Module):
    def __init__(self, C, num_classes, layers, genotype):
        super().__init__()
        self.stem = nn.Conv2d(3, C, 3, padding=1)
        widths = [C] + [C * len(genotype.concat)] * layers
        self.cells = nn.ModuleList([Cell(genotype, w, C) for w in widths[:-1]])
        self.classifier = nn.Linear(widths[-1], num_classes)
        self.drop_path_prob = 0.

    def forward(self, x):
        s = self.stem(x)
        for cell in self.cells:
            s = cell(s, self.drop_path_prob)
        return self.classifier(s.mean((2, 3)))


def main():
    torch.manual_seed(args.seed)
    wings = torch.randn(5, 3, 12, 12)
    y = torch.randint(0, 5, (60,))
    x = wings[y] + 0.6 * torch.randn(60, 3, 12, 12)
    model = Network(args.init_channels, 5, args.layers, WINGS_V2)
    logging.info('param size = %.3fK', sum(p.numel() for p in model.parameters()) / 1e3)
    optimizer = torch.optim.SGD(model.parameters(), args.learning_rate, momentum=0.9, weight_decay=3e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(args.epochs):
        model.drop_path_prob = args.drop_path_prob * (epoch + 1) / args.epochs
        model.train()
        for idx in torch.randperm(len(x)).split(args.batch_size):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.grad_clip)
            optimizer.step()
        scheduler.step()
        logging.info('epoch %d loss %f', epoch, loss.item())


if __name__ == '__main__':
    main()
