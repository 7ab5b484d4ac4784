



"""Predict the delay at every stop of a small bus network from the delays an hour earlier."""
import argparse

import torch
import torch.nn.functional as F

from lines import make_days, stop_pairs
from network import DelayNet


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stops", type=int, default=14)
    ap.add_argument("--days", type=int, default=24)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--width", type=int, default=12)
    ap.add_argument("--lr", type=float, default=5e-3)
    return ap.parse_args()


def run_epoch(net, days, optimizer):
    total = 0.0
    for before, after in days:
        optimizer.zero_grad()
        forecast = net(before)
        miss = F.smooth_l1_loss(forecast, after)
        miss.backward()
        optimizer.step()
        total += miss.item()
    return total / len(days)


def main():
    args = parse()
    torch.manual_seed(11)
    pairs = stop_pairs(args.stops)
    days = make_days(args.stops, args.days, pairs)
    net = DelayNet(args.stops, pairs, args.width)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        print(f"epoch {epoch}  miss {run_epoch(net, days, optimizer):.4f}")
    print("strongest transfer:", pairs[:, net.transfer.argmax()].tolist())


if __name__ == "__main__":
    main()
