import torch

_PATTERNS = {}


def _pattern(word, bands):
    if word not in _PATTERNS:
        _PATTERNS[word] = torch.randn(bands, 10)
    return _PATTERNS[word]


def utterances(n, frames, bands, words):
    """Noise with one keyword somewhere in it; frame labels mark its last few frames."""
    x = 0.5 * torch.randn(n, bands, frames)
    y = torch.zeros(n, frames, dtype=torch.long)
    for i in range(n):
        word = int(torch.randint(1, words, (1,)))
        start = int(torch.randint(0, frames - 14, (1,)))
        x[i, :, start:start + 10] += _pattern(word, bands)
        y[i, start + 8:start + 14] = word
    return x, y
