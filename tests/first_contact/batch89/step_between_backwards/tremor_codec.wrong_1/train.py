"""Rate-distortion training of the tremor codec, with a second optimizer for the coder's tails."""
import argparse

import torch
import torch.nn.functional as F

from codec import TremorCodec


def tremors(count, length=64):
    t = torch.linspace(0, 1, length)
    onset = torch.rand(count, 1) * 0.6
    pitch = 6 + 10 * torch.rand(count, 1)
    envelope = torch.exp(-6 * (t - onset).clamp_min(0)) * (t > onset)
    return (3 * envelope * torch.sin(6.283 * pitch * t) + 0.05 * torch.randn(count, length))[:, None]


def optimizers(codec, args):
    main = torch.optim.Adam(codec.main_parameters(), lr=args.lr)
    tails = torch.optim.Adam([codec.prior.edges], lr=args.tail_lr)
    return main, tails


def train_one_epoch(codec, main, tails, args, epoch):
    codec.train()
    for _ in range(args.batches):
        x = tremors(16)
        main.zero_grad()
        tails.zero_grad()

        out = codec(x)
        distortion = F.mse_loss(out["wave"], x)
        rd = args.lmbda * distortion + out["bits"]
        rd.backward(retain_graph=True)
        torch.nn.utils.clip_grad_norm_(codec.main_parameters(), args.clip)
        main.step()

        out["edges"].backward()
        tails.step()
    print(f"epoch {epoch} mse {distortion.item():.4f} bits {out['bits'].item():.3f} "
          f"edges {out['edges'].item():.2f}")


@torch.no_grad()
def evaluate(codec):
    codec.eval()
    x = tremors(32)
    out = codec(x)
    return F.mse_loss(out["wave"], x).item(), out["bits"].item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lmbda", type=float, default=8.0)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--tail-lr", type=float, default=5e-2)
    parser.add_argument("--clip", type=float, default=2.0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batches", type=int, default=5)
    args = parser.parse_args([])
    torch.manual_seed(27)
    codec = TremorCodec()
    main_opt, tail_opt = optimizers(codec, args)
    for epoch in range(args.epochs):
        train_one_epoch(codec, main_opt, tail_opt, args, epoch)
        print("   held out: mse %.4f bits %.3f" % evaluate(codec))


if __name__ == "__main__":
    main()
