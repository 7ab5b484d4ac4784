# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = losses, loss, total, date_loss, rot_loss, g
"""Two forecasts for the orchid house from one encoder, weighed so that neither pulls too hard."""
import torch
import torch.nn.functional as F

from balance import Balancer
from greenhouse import OrchidNet, pots


def losses_of(net, batch):
    x, flowering, rot = batch
    date, odds, shared = net(x)
    return (F.mse_loss(date, flowering), F.binary_cross_entropy_with_logits(odds, rot)), shared


def validate(net, generator):
    net.eval()
    with torch.no_grad():
        (date_loss, rot_loss), _ = losses_of(net, pots(64, generator=generator))
    net.train()
    return {"date": date_loss.item(), "rot": rot_loss.item()}


def main(epochs=4, batches=6):
    generator = torch.Generator().manual_seed(3)
    torch.manual_seed(3)
    net = OrchidNet(readings=4)
    balancer = Balancer()
    optimizer = torch.optim.NAdam(net.parameters(), lr=5e-3)
    best = None
    for epoch in range(epochs):
        for _ in range(batches):
            losses, shared = losses_of(net, pots(24, generator=generator))
            total = balancer(losses, shared)  # expect: place
            optimizer.zero_grad()
            total.backward()  # expect: place
            torch.nn.utils.clip_grad_value_(net.parameters(), 0.5)
            optimizer.step()
        scores = validate(net, generator)
        if best is None or sum(scores.values()) < best:
            best = sum(scores.values())
        print(f"epoch {epoch}: weight of the date {balancer.weight:.2f}", scores)
    print("best", best)


if __name__ == "__main__":
    main()
