"""Bidders learn under a price of information that is learned, too; both losses fill one record."""

import torch
from torch import nn


def train(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(14)
    bidder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 5))
    price = torch.zeros((), requires_grad=True)
    for_bids = torch.optim.Adam(bidder.parameters(), lr=5e-3)
    for_price = torch.optim.Adam([price], lr=1e-2)
    record = {}
    for auction in range(8):
        signal = torch.rand(32, 4)
        bids = bidder(signal).softmax(1)
        gain = (bids * (torch.arange(5.0) - signal.sum(1, keepdim=True))).sum(1).mean()
        entropy = -(bids * (bids + 1e-9).log()).sum(1).mean()
        record["bids"] = train(-gain - price.exp().detach() * entropy, for_bids)
        record["price"] = train(price.exp() * (entropy.detach() - 1.2), for_price)
    print({key: round(value, 4) for key, value in record.items()})


main()
