"""Letter by letter through a harbour log, with the memory of the columns carried along."""
import math

import torch
import torch.nn.functional as F

from model import RetNet
from reading import Columns, Reader, write_log


@torch.no_grad()
def perplexity(net, columns):
    net.eval()
    reader, total, count = Reader(net), 0.0, 0
    for tokens, targets in columns:
        total += F.cross_entropy(reader.read(tokens).flatten(0, 1), targets.flatten(), reduction="sum").item()
        count += targets.numel()
    net.train()
    return math.exp(total / count)


def main(epochs=2):
    torch.manual_seed(1871)
    columns = Columns(write_log(60, seed=3), columns=4, window=32)
    net = RetNet(len(columns.letters))
    reader = Reader(net)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)
    for epoch in range(epochs):
        reader.rewind()
        for i, (tokens, targets) in enumerate(columns):
            logits = reader.read(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            if i % 5 == 0:
                print(f"epoch {epoch} window {i}: {loss.item():.3f}")
        schedule.step()
        print(f"epoch {epoch}: perplexity {perplexity(net, columns):.2f}")


if __name__ == "__main__":
    main()
