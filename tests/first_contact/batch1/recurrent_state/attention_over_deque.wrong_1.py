"""An RNN that attends to its last few hidden states, trained on chunks of one endless stream."""
from collections import deque

import numpy as np
import torch
import torch.nn as nn


class AttentiveRNN(nn.Module):
    def __init__(self, n_in=2, hidden=12, span=4):
        super().__init__()
        self.hidden, self.span = hidden, span
        self.inp = nn.Linear(n_in, hidden)
        self.rec = nn.Linear(hidden, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.head = nn.Linear(2 * hidden, 1)

    def fresh(self, batch):
        return deque([torch.zeros(batch, self.hidden)], maxlen=self.span)

    def forward(self, chunk, recent):
        outs = []
        for x in chunk:
            h = torch.tanh(self.inp(x) + self.rec(recent[-1]))
            past = torch.stack(list(recent), dim=1)
            score = torch.einsum("bh,bsh->bs", self.query(h), past) / self.hidden ** 0.5
            context = torch.einsum("bs,bsh->bh", score.softmax(-1), past)
            outs.append(self.head(torch.cat([h, context], dim=-1)))
            recent.append(h.detach())
        return torch.stack(outs)


def stream(rng, chunk_len, batch):
    """Endless pairs of (input, target); the target lags the input by two."""
    lag = np.zeros((2, batch))
    while True:
        x = rng.normal(size=(chunk_len, batch, 2))
        full = np.concatenate([lag, x[..., 0]], axis=0)
        yield torch.from_numpy(x).float(), torch.from_numpy(full[:chunk_len, :, None]).float()
        lag = full[-2:]


def main(chunks=10, chunk_len=6, batch=5):
    torch.manual_seed(12)
    model = AttentiveRNN()
    optim = torch.optim.AdamW(model.parameters(), lr=0.01)
    recent = model.fresh(batch)
    data = stream(np.random.default_rng(12), chunk_len, batch)
    for i, (x, y) in zip(range(chunks), data):
        pred = model(x, recent)
        loss = (pred - y).square().mean()
        optim.zero_grad(set_to_none=True)
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        print(f"chunk {i:2d}  loss {loss.item():.4f}  |g| {grad_norm:.3f}")


if __name__ == "__main__":
    main()
