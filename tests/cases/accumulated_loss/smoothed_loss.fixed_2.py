"""Autoencoder with an exponentially smoothed loss on the progress line."""
import argparse
import torch
import torch.nn as nn


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beta", default=0.9, type=float)
    parser.add_argument("--steps", default=5, type=int)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(14)
    encoder = nn.Sequential(nn.Linear(9, 4), nn.ReLU())
    decoder = nn.Linear(4, 9)
    params = list(encoder.parameters()) + list(decoder.parameters())
    optimizer = torch.optim.RMSprop(params, lr=1e-3)
    ema_loss = None
    for step in range(args.steps):
        x = torch.rand(16, 9)
        loss = nn.functional.mse_loss(decoder(encoder(x)), x)
        ema_loss = loss if ema_loss is None else args.beta * ema_loss + (1 - args.beta) * loss
        optimizer.zero_grad()
        ema_loss.backward()
        optimizer.step()
        ema_loss = ema_loss.detach()
        print(f"\rstep {step} loss {ema_loss.item():.4f}", end="")


main()
