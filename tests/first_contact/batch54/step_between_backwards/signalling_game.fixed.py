# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = scores, talk_loss
"""Emergent communication: a speaker names an object, a listener finds it.

Both players are trained, the listener for guessing, the speaker for being
understood with messages that are cheap to send.
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Speaker(nn.Module):
    def __init__(self, n_attr, vocab, length):
        super().__init__()
        self.vocab, self.length = vocab, length
        self.net = nn.Sequential(nn.Linear(n_attr, 48), nn.ReLU(), nn.Linear(48, vocab * length))

    def forward(self, obj, tau):
        logits = self.net(obj).view(-1, self.length, self.vocab)
        return F.gumbel_softmax(logits, tau=tau, dim=-1)


class Listener(nn.Module):
    def __init__(self, n_attr, vocab, length):
        super().__init__()
        self.read = nn.Sequential(nn.Linear(vocab * length, 48), nn.ReLU(), nn.Linear(48, 32))
        self.look = nn.Sequential(nn.Linear(n_attr, 48), nn.ReLU(), nn.Linear(48, 32))

    def forward(self, message, candidates):
        meaning = self.read(message.flatten(1))
        seen = self.look(candidates)
        return torch.einsum("bd,bkd->bk", meaning, seen)


def deal(batch, n_cand, n_attr):
    candidates = (torch.rand(batch, n_cand, n_attr) < 0.5).float()
    where = torch.randint(0, n_cand, (batch,))
    return candidates, where, candidates[torch.arange(batch), where]


def effort(message):
    """Symbols far down the alphabet cost more breath."""
    cost = torch.linspace(0.0, 1.0, message.shape[-1])
    return (message * cost).sum(-1).mean()


def play(args):
    torch.manual_seed(args.seed)
    speaker = Speaker(args.attributes, args.vocab, args.length)
    listener = Listener(args.attributes, args.vocab, args.length)
    speaker_opt = torch.optim.Adam(speaker.parameters(), lr=args.lr)
    listener_opt = torch.optim.SGD(listener.parameters(), lr=0.1, momentum=0.9)

    for rnd in range(args.rounds):
        candidates, where, target = deal(args.batch, args.candidates, args.attributes)
        tau = max(0.7, 1.5 - rnd / args.rounds)
        message = speaker(target, tau)
        scores = listener(message, candidates)

        guess_loss = F.cross_entropy(scores, where)
        listener_opt.zero_grad()
        guess_loss.backward(retain_graph=True)

        talk_loss = F.cross_entropy(scores, where) + args.breath * effort(message)  # expect: place
        speaker_opt.zero_grad()
        talk_loss.backward(inputs=list(speaker.parameters()))  # expect: place
        listener_opt.step()
        speaker_opt.step()

        if rnd % 25 == 0:
            won = (scores.argmax(1) == where).float().mean().item()
            print(f"round {rnd:4d}  won {won:.2f}  talk loss {talk_loss.item():.3f}")


def options():
    ap = argparse.ArgumentParser()
    ap.add_argument("--attributes", type=int, default=8)
    ap.add_argument("--vocab", type=int, default=6)
    ap.add_argument("--length", type=int, default=4)
    ap.add_argument("--candidates", type=int, default=5)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--rounds", type=int, default=150)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--breath", type=float, default=0.05)
    ap.add_argument("--seed", type=int, default=44)
    return ap.parse_args()


if __name__ == "__main__":
    play(options())
