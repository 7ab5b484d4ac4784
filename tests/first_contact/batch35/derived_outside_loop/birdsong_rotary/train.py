# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = freqs, cached_freqs, self.cached_freqs
import argparse

import torch
import torch.nn.functional as F

from model import SyllableLM


def songs(batch, length, num_syllables):
    """Phrases of two to four syllables that a bird repeats a few times before it goes on."""
    out = torch.zeros(batch, length, dtype=torch.long)
    for b in range(batch):
        row = []
        while len(row) < length:
            phrase = torch.randint(0, num_syllables, (int(torch.randint(2, 5, ())),)).tolist()
            row += phrase * int(torch.randint(2, 4, ()))
        out[b] = torch.tensor(row[:length])
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--syllables", type=int, default=14)
    parser.add_argument("--seq-len", type=int, default=24)
    args = parser.parse_args()

    torch.manual_seed(0)
    model = SyllableLM(args.syllables)
    optim = torch.optim.Adam(model.parameters(), lr=args.lr)

    for step in range(args.steps):
        seq = songs(8, args.seq_len + 1, args.syllables)
        logits = model(seq[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), seq[:, 1:])
        optim.zero_grad()
        loss.backward()  # expect: place
        optim.step()
        if step % 3 == 0:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
