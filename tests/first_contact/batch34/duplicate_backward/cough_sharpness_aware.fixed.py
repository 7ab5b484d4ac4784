"""Cough / no cough on log-mel patches, trained with a sharpness-aware optimizer (two passes a batch)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class SharpnessAware(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        defaults = dict(rho=rho, **kwargs)
        super().__init__(params, defaults)
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def climb(self):
        norm = torch.norm(torch.stack([
            p.grad.norm(p=2) for g in self.param_groups for p in g["params"] if p.grad is not None
        ]))
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                e_w = p.grad * scale
                p.add_(e_w)
                self.state[p]["e_w"] = e_w
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(self.state[p]["e_w"])
        self.base_optimizer.step()
        self.zero_grad()

    def step(self, closure=None):
        raise NotImplementedError("use climb() and descend()")


class CoughNet(nn.Module):
    def __init__(self, n_mels=16, n_classes=2):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 12, 3, padding=1)
        self.fc = nn.Linear(12, n_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


def synthetic_batches(n_batches, batch_size):
    for _ in range(n_batches):
        label = torch.randint(0, 2, (batch_size,))
        patch = 0.3 * torch.randn(batch_size, 1, 16, 20)
        patch[:, :, 4:9, 8:11] += label.view(-1, 1, 1, 1).float()
        yield patch, label


def main(args):
    torch.manual_seed(args.seed)
    model = CoughNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = SharpnessAware(model.parameters(), torch.optim.SGD, rho=args.rho, lr=args.lr, momentum=0.9)

    for epoch in range(args.epochs):
        seen, right, losses = 0, 0, 0.0
        for images, target in synthetic_batches(6, 16):
            # first pass: go up
            output = model(images)
            loss = criterion(output, target)  # kept for the statistics
            loss.backward()
            optimizer.climb()

            # second pass: gradient at the perturbed weights
            criterion(model(images), target).backward()
            optimizer.descend()

            seen += len(target)
            right += (output.argmax(1) == target).sum().item()
            losses += loss.item() * len(target)
        print(f"epoch {epoch}: loss {losses / seen:.3f}, accuracy {right / seen:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--rho", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    main(parser.parse_args())
