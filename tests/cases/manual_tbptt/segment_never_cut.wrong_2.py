"""Stateful training over one long recording, a backward every `bptt` frames."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def tbptt_loop(model, head, optimizer, frames, labels, bptt):
    state = None
    pending = 0.0
    for t in range(frames.size(0)):
        out, state = model(frames[t : t + 1], state)
        pending = pending + F.cross_entropy(head(out[0]), labels[t])
        state = tuple(s.detach() for s in state)
        if (t + 1) % bptt == 0:
            optimizer.zero_grad()
            (pending / bptt).backward()
            optimizer.step()
            pending = 0.0


def run():
    torch.manual_seed(6)
    model, head = nn.LSTM(7, 11), nn.Linear(11, 3)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=3e-3)
    frames = torch.randn(20, 4, 7)
    tbptt_loop(model, head, optimizer, frames, frames[..., :3].argmax(-1), bptt=5)


run()
