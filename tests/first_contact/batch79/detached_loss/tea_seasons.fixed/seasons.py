"""Colour, veins and moisture of leaves; every season the light in the shed is another."""
import torch


def season_stream(seasons, batches=12, size=16, features=9, grades=4):
    generator = torch.Generator().manual_seed(5)
    centres = torch.randn(grades, features, generator=generator) * 1.4
    for season in range(seasons):
        turn, _ = torch.linalg.qr(torch.randn(features, features, generator=generator))
        mix = torch.eye(features) if season == 0 else turn
        out = []
        for _ in range(batches):
            y = torch.randint(grades, (size,), generator=generator)
            x = centres[y] @ mix + 0.5 * torch.randn(size, features, generator=generator)
            out.append((x, y))
        yield out
