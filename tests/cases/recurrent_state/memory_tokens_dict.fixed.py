# A recurrent memory transformer: each segment writes the memory tokens of the next.
import argparse

import torch
from torch import nn


class SegmentModel(nn.Module):
    def __init__(self, vocab, dim, slots):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.init_mem = nn.Parameter(torch.randn(slots, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 2, 2 * dim, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1)
        self.lm = nn.Linear(dim, vocab)
        self.slots = slots

    def begin(self, batch):
        return {"tokens": self.init_mem.expand(batch, -1, -1), "seen": 0}

    def forward(self, ids, memory):
        h = self.enc(torch.cat([memory["tokens"], self.tok(ids)], dim=1))
        new = {"tokens": h[:, : self.slots], "seen": memory["seen"] + ids.size(1)}
        return self.lm(h[:, self.slots :]), new


def run_segment(model, segment, memory, optimizer):
    logits, memory = model(segment[:, :-1], memory)
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), segment[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory = {**memory, "tokens": memory["tokens"].detach()}
    return loss.item(), memory


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--segments", type=int, default=4)
    ap.add_argument("--slots", type=int, default=2)
    opts, _ = ap.parse_known_args()
    torch.manual_seed(0)
    model = SegmentModel(15, 8, opts.slots)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    document = torch.randint(0, 15, (3, 8 * opts.segments))
    memory = model.begin(batch=3)
    for segment in document.chunk(opts.segments, dim=1):
        loss, memory = run_segment(model, segment, memory, optimizer)
        print(memory["seen"], loss)


main()
