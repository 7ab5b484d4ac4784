"""Rotary embedding, with the usual cache of angles."""
import torch
from torch import einsum, nn


def exists(val):
    return val is not None


def rotate_half(x):
    x = x.reshape(*x.shape[:-1], -1, 2)
    a, b = x.unbind(dim=-1)
    return torch.stack((-b, a), dim=-1).flatten(-2)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, theta=10000, learned_freq=False, freqs_for="lang", cache_if_possible=True):
        super().__init__()
        if freqs_for == "lang":
            freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim))
        elif freqs_for == "spectrum":
            freqs = torch.linspace(1.0, 10.0 / 2, dim // 2)
        else:
            raise ValueError(f"unknown modality {freqs_for}")
        self.freqs_for = freqs_for
        self.cache_if_possible = cache_if_possible
        self.freqs = nn.Parameter(freqs, requires_grad=learned_freq)
        self.learned_freq = learned_freq
        self.cached_freqs = None

    def get_seq_pos(self, seq_len, device, offset=0):
        return torch.arange(seq_len, device=device) + offset

    def rotate_queries_or_keys(self, t, offset=0):
        seq_len = t.shape[-2]
        freqs = self.forward(self.get_seq_pos(seq_len, t.device, offset), seq_len=seq_len, offset=offset)
        return t * freqs.cos() + rotate_half(t) * freqs.sin()

    def forward(self, t, seq_len=None, offset=0):
        should_cache = (
            self.cache_if_possible and not self.learned_freq and exists(seq_len) and self.freqs_for != "spectrum"
        )

        if should_cache and exists(self.cached_freqs) and offset + seq_len <= self.cached_freqs.shape[0]:
            return self.cached_freqs[offset:offset + seq_len]

        freqs = einsum("i, f -> i f", t.type(self.freqs.dtype), self.freqs)
        freqs = freqs.repeat_interleave(2, dim=-1)

        if should_cache:
            self.cached_freqs = freqs

        return freqs
