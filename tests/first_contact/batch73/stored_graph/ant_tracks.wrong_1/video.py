"""Synthetic clips of a trail: every ant wears its own paint marks and walks slowly."""
import torch


def clip(n_ants, n_frames, seed):
    gen = torch.Generator().manual_seed(seed)
    marks = torch.rand(n_ants, 1, 7, 7, generator=gen)
    position = torch.rand(n_ants, 2, generator=gen)
    for _ in range(n_frames):
        position = position + 0.03 * torch.randn(n_ants, 2, generator=gen)
        seen = torch.randperm(n_ants, generator=gen)[: n_ants - 1]
        crops = marks[seen] + 0.2 * torch.randn(len(seen), 1, 7, 7, generator=gen)
        boxes = torch.cat([position[seen], 0.1 * torch.ones(len(seen), 2)], dim=1)
        yield crops, boxes, seen
