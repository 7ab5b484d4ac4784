import argparse

import torch

from engine_pretrain import train_one_epoch
from mae import MaskedAutoencoder
from misc import GradScalerWithNormCount as NativeScaler


def get_args():
    parser = argparse.ArgumentParser("pretraining on seismograms", add_help=False)
    parser.add_argument("--epochs", default=3, type=int)
    parser.add_argument("--steps", default=6, type=int)
    parser.add_argument("--accum_iter", default=2, type=int)
    parser.add_argument("--lr", default=2e-3, type=float)
    parser.add_argument("--warmup", default=1, type=int)
    parser.add_argument("--seed", default=0, type=int)
    return parser.parse_args()


def traces(steps, batch=8, length=96):
    t = torch.arange(length).float()
    for _ in range(steps):
        onset = torch.randint(10, 60, (batch, 1, 1))
        freq = 0.2 + 0.4 * torch.rand(batch, 1, 1)
        after = (t - onset).clamp(min=0)
        wave = torch.exp(-after / 15) * torch.sin(freq * after) * (after > 0)
        yield wave * torch.randn(batch, 3, 1) + 0.05 * torch.randn(batch, 3, length)


def main(args):
    torch.manual_seed(args.seed)
    model = MaskedAutoencoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))
    loss_scaler = NativeScaler()
    for epoch in range(args.epochs):
        avg = train_one_epoch(model, traces(args.steps), optimizer, epoch, loss_scaler, args)
        print("epoch %d loss %.4f" % (epoch, avg))


if __name__ == "__main__":
    main(get_args())
