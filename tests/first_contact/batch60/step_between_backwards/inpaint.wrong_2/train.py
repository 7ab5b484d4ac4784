# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = gen_loss, gen_adv, dis_optimizer
import torch

from model import InpaintingModel

SIZE, BATCH, STEPS = 16, 8, 12


def blobs(n):
    """Smooth random pictures in [0, 1]."""
    coarse = torch.rand(n, 1, 4, 4)
    return torch.nn.functional.interpolate(coarse, size=SIZE, mode="bilinear", align_corners=False)


def holes(n):
    mask = torch.zeros(n, 1, SIZE, SIZE)
    for i in range(n):
        top, left = torch.randint(0, SIZE - 6, (2,)).tolist()
        mask[i, :, top:top + 6, left:left + 6] = 1
    return mask


def main():
    torch.manual_seed(7)
    model = InpaintingModel()
    for step in range(STEPS):
        images, masks = blobs(BATCH), holes(BATCH)
        painted, gen_loss, dis_loss, logs = model.process(images, masks)
        model.backward(gen_loss, dis_loss)  # expect: place
        if step % 4 == 0:
            print(step, " ".join(f"{k}={v:.4f}" for k, v in logs.items()))


main()
