"""Which aberration does our microscope have? Fitted on images of beads at known places."""
import torch
import torch.nn.functional as F

from optics import spread, zernikes
from scope import Microscope

SIZE, BEADS, BATCH = 24, 5, 8
TRUE_WAVES = torch.tensor([0.4, -0.2, 0.5, 0.1, -0.3, 0.2])


def slides(count):
    scenes = torch.zeros(count, SIZE, SIZE)
    for scene in scenes:
        rows, columns = torch.randint(0, SIZE, (2, BEADS))
        scene[rows, columns] = 20 + 10 * torch.rand(BEADS)
    return scenes


def photograph(scenes):
    modes, inside = zernikes(SIZE)
    psf = spread(torch.einsum("k,kij->ij", TRUE_WAVES, modes), inside)
    clean = torch.fft.ifft2(torch.fft.fft2(scenes) * torch.fft.fft2(psf)).real
    return 1.3 * clean + 0.1 + 0.01 * torch.randn_like(clean)


def held_out(scope, scenes, images):
    scope.eval()
    with torch.no_grad():
        return F.mse_loss(scope(scenes), images).item()


def main():
    torch.manual_seed(4)
    scenes = slides(40)
    images = photograph(scenes)
    scope = Microscope(SIZE)
    opt = torch.optim.Adam([
        {"params": [scope.waves], "lr": 0.05},
        {"params": [scope.gain, scope.floor], "lr": 0.02},
    ])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 8)
    for epoch in range(8):
        scope.train()
        for rows in torch.randperm(32).split(BATCH):
            opt.zero_grad()
            misfit = F.mse_loss(scope(scenes[rows]), images[rows])
            misfit.backward()
            opt.step()
        schedule.step()
        print(epoch, f"{misfit.item():.5f}", f"{held_out(scope, scenes[32:], images[32:]):.5f}",
              scope.report())


if __name__ == "__main__":
    main()
