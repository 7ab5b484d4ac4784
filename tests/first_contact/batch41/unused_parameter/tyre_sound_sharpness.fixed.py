"""Road surface from tyre noise; how sharp is the minimum? Top Hessian eigenvalue by power iteration,
after each epoch. The projector is from the contrastive phase and is kept for later fine-tuning."""
import argparse

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, n_bands, n_classes):
        super(Net, self).__init__()
        self.backbone = nn.Sequential(nn.Linear(n_bands, 24), nn.Tanh(), nn.Linear(24, 16), nn.Tanh())
        self.classifier = nn.Linear(16, n_classes)
        self.projector = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 8))

    def project(self, x):
        return nn.functional.normalize(self.projector(self.backbone(x)), dim=1)

    def forward(self, x):
        return self.classifier(self.backbone(x))


class HVPOperator(object):
    def __init__(self, model, criterion, data):
        self.model = model
        self.criterion = criterion
        self.data = data
        self.params = [*model.backbone.parameters(), *model.classifier.parameters()]
        self.size = sum(p.numel() for p in self.params)

    def apply(self, vec):
        x, y = self.data
        loss = self.criterion(self.model(x), y)
        grads = torch.autograd.grad(loss, self.params, create_graph=True)
        grad_vec = torch.cat([g.contiguous().view(-1) for g in grads])
        hessian_vec = torch.autograd.grad(grad_vec, self.params, grad_outputs=vec)
        return torch.cat([g.contiguous().view(-1) for g in hessian_vec])


def power_iteration(operator, steps):
    vec = torch.randn(operator.size)
    vec /= vec.norm()
    for _ in range(steps):
        new = operator.apply(vec)
        eigenvalue = vec.dot(new).item()
        vec = new / (new.norm() + 1e-6)
    return eigenvalue


def noise(n, n_bands, n_classes, means):
    y = torch.randint(n_classes, (n,))
    return means[y] + torch.randn(n, n_bands), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--power-steps", type=int, default=8)
    args = parser.parse_args()

    torch.manual_seed(17)
    means = torch.randn(4, 10)
    x, y = noise(160, 10, 4, means)
    held = noise(80, 10, 4, means)
    model = Net(10, 4)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        for idx in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        top = power_iteration(HVPOperator(model, criterion, held), args.power_steps)
        print("epoch %d  loss %.4f  lambda_max %.3f" % (epoch, loss.item(), top))


if __name__ == "__main__":
    main()
