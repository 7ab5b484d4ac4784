"""A night at the crater rim: plates of crust drift over the lake and upwellings break them."""
import torch
import torch.nn.functional as F


def film_night(n_frames, cameras=2, size=10):
    crust = F.avg_pool2d(torch.randn(cameras, 1, size + 2, size + 2), 3, stride=1)
    spot = torch.randint(2, size - 2, (cameras, 2))
    frames = []
    for k in range(n_frames):
        crust = 0.92 * crust.roll(1, dims=3) + 0.08 * crust.mean((2, 3), keepdim=True)
        if k % 6 == 0:
            for cam, (r, c) in enumerate(spot.tolist()):
                crust[cam, 0, r - 1:r + 2, c - 1:c + 2] += 1.0
        frames.append(crust + 0.03 * torch.randn_like(crust))
    return torch.stack(frames)


def clips(night, length):
    """Pieces of one night, each with the frame that follows its last one."""
    for start in range(0, len(night) - length, length):
        yield night[start:start + length], night[start + 1:start + length + 1]
