import argparse
import time

import torch
import torch.nn as nn
import unidecode
from tqdm import tqdm

from helpers import read_file, time_since
from model import CharRNN

parser = argparse.ArgumentParser()
parser.add_argument("filename", type=str)
parser.add_argument("--n_epochs", type=int, default=2000)
parser.add_argument("--hidden_size", type=int, default=32)
parser.add_argument("--chunk_len", type=int, default=25)
parser.add_argument("--learning_rate", type=float, default=0.01)
args = parser.parse_args()

file, file_len = read_file(args.filename)
chars = sorted(set(file))
decoder = CharRNN(len(chars), args.hidden_size, len(chars))
optimizer = torch.optim.Adam(decoder.parameters(), lr=args.learning_rate)
criterion = nn.CrossEntropyLoss()


def batches():
    for start in range(0, file_len - args.chunk_len - 1, args.chunk_len):
        chunk = torch.tensor([chars.index(c) for c in file[start:start + args.chunk_len + 1]])
        yield chunk[:-1], chunk[1:]


start = time.time()
hidden = decoder.init_hidden()
for epoch in tqdm(range(1, args.n_epochs + 1)):
    for inp, target in batches():
        output, hidden = decoder(inp, hidden)
        loss = criterion(output, target)
        decoder.zero_grad()
        loss.backward()
        optimizer.step()
    print("[%s (%d)]" % (time_since(start), epoch))
