# expect: pattern = growing-history
# expect: also = stored-graph
# expect: raises = nothing
# expect: carrier = running_mean, running_var, self.running_mean, self.running_var, mean, var
"""Who swims there? Species of fish schools from their echoes."""
import torch
import torch.nn.functional as F

from echogram import SPECIES, collate, survey
from layers import SchoolNet

SEED, EPOCHS, BATCH = 79, 5, 24


def batches(data, order):
    for start in range(0, len(order), BATCH):
        yield collate([data[i] for i in order[start:start + BATCH]])


@torch.no_grad()
def confusion(net, data):
    net.eval()
    table = torch.zeros(len(SPECIES), len(SPECIES), dtype=torch.long)
    for x, mask, y in batches(data, range(len(data))):
        for truth, guess in zip(y.tolist(), net(x, mask).argmax(-1).tolist()):
            table[truth, guess] += 1
    net.train()
    return table


def main():
    torch.manual_seed(SEED)
    data, dev = survey(240), survey(72)
    net = SchoolNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=6e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-2, total_steps=EPOCHS * 10)
    best, checkpoint = 0.0, None
    for epoch in range(EPOCHS):
        total = 0.0
        for x, mask, y in batches(data, torch.randperm(len(data)).tolist()):
            loss = F.cross_entropy(net(x, mask), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        table = confusion(net, dev)
        right = table.diag().sum().item() / table.sum().item()
        if right >= best:
            best, checkpoint = right, {k: v.clone() for k, v in net.state_dict().items()}
        print(f"epoch {epoch}: loss {total / 10:.3f}, dev {right:.3f}")
    net.load_state_dict(checkpoint)
    for name, row in zip(SPECIES, confusion(net, dev).tolist()):
        print(f"{name:>13}", row)


if __name__ == "__main__":
    main()
