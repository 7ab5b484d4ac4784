"""The harbour master's log, and somebody who reads several years of it side by side."""
import random

import torch

WORDS = "brig barque sloop cutter arrived sailed laden ballast herring timber coal wind calm fog".split()


def write_log(entries, seed):
    rng = random.Random(seed)
    lines = []
    for _ in range(entries):
        ship = rng.choice(WORDS[:4])
        load = rng.choice(WORDS[8:11]) if ship != "cutter" else "ballast"
        lines.append(f"{ship} {rng.choice(WORDS[4:6])} {load}, {rng.choice(WORDS[11:])}.")
    return " ".join(lines)


class Columns:
    """Cuts a text into parallel columns and hands out windows of them in order."""

    def __init__(self, text, columns, window):
        self.letters = sorted(set(text))
        codes = torch.tensor([self.letters.index(c) for c in text])
        length = len(codes) // columns
        self.codes = codes[: length * columns].view(columns, length)
        self.window = window

    def __iter__(self):
        for start in range(0, self.codes.shape[1] - self.window, self.window):
            piece = self.codes[:, start : start + self.window + 1]
            if piece.shape[1] == self.window + 1:
                yield piece[:, :-1], piece[:, 1:]


class Reader:
    def __init__(self, net):
        self.net = net
        self.carries = None

    def rewind(self):
        self.carries = None

    def read(self, tokens):
        logits, carries = self.net(tokens, self.carries)  # expect: place
        self.carries = carries  # expect: place
        return logits
