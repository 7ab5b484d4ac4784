# expect: pattern = none
# expect: raises = nothing
"""Node classification with adversarial feature augmentation (FLAG).

Every ascent step on the perturbation also contributes its share to the weights:
M backward passes, one optimizer step.
"""
import torch
from torch import nn
import torch.nn.functional as F


def citation_graph(n=80, classes=4, dim=18):
    labels = torch.randint(classes, (n,))
    topics = torch.randn(classes, dim)
    feats = topics[labels] + 1.5 * torch.randn(n, dim)
    same = (labels[:, None] == labels[None, :]).float()
    adj = (torch.rand(n, n) < 0.02 + 0.12 * same).float()
    adj = ((adj + adj.T + torch.eye(n)) > 0).float()
    inv = adj.sum(1).rsqrt()
    return feats, labels, inv[:, None] * adj * inv[None, :]


class GCN(nn.Module):
    def __init__(self, dim, width, classes):
        super().__init__()
        self.first = nn.Linear(dim, width)
        self.second = nn.Linear(width, classes)

    def forward(self, x, a):
        h = F.relu(a @ self.first(x))
        h = F.dropout(h, 0.3, self.training)
        return a @ self.second(h)


def flag_step(model, opt, x, a, y, mask, m=3, step_size=0.02):
    model.train()
    opt.zero_grad()
    noise = torch.empty_like(x).uniform_(-step_size, step_size)
    noise.requires_grad_()
    loss = F.cross_entropy(model(x + noise, a)[mask], y[mask]) / m
    for _ in range(m - 1):
        loss.backward()
        noise.data = noise.detach() + step_size * noise.grad.detach().sign()
        noise.grad.zero_()
        loss = F.cross_entropy(model(x + noise, a)[mask], y[mask]) / m
    loss.backward()
    opt.step()
    return m * loss.item()


@torch.no_grad()
def accuracy(model, x, a, y, mask):
    model.eval()
    return (model(x, a).argmax(1)[mask] == y[mask]).float().mean().item()


def main():
    torch.manual_seed(31)
    x, y, a = citation_graph()
    train = torch.rand(len(y)) < 0.4
    model = GCN(x.shape[1], 32, 4)
    opt = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(30):
        last = flag_step(model, opt, x, a, y, train)
        if epoch % 10 == 0:
            print(f"{epoch:2d}  loss {last:.4f}  test {accuracy(model, x, a, y, ~train):.3f}")


if __name__ == "__main__":
    main()
