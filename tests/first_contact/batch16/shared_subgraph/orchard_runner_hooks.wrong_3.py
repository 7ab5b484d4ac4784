"""Apples on a branch: is there one, where, how ripe. A runner with hooks trains the three heads."""
from collections import OrderedDict, defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F


class Hook:
    def before_run(self, runner): ...

    def before_epoch(self, runner): ...

    def after_iter(self, runner): ...

    def after_epoch(self, runner): ...


class OptimizerHook(Hook):
    def __init__(self, max_norm=None):
        self.max_norm = max_norm

    def after_iter(self, runner):
        runner.optimizer.zero_grad()
        for value in runner.outputs["losses"].values():
            runner.optimizer.zero_grad()
            value.backward(retain_graph=True)
        if self.max_norm is not None:
            nn.utils.clip_grad_norm_(runner.model.parameters(), self.max_norm)
        runner.optimizer.step()


class WarmupHook(Hook):
    def __init__(self, iters, lr):
        self.iters, self.lr = iters, lr

    def before_run(self, runner):
        self.set(runner, 1)

    def after_iter(self, runner):
        if runner.iteration < self.iters:
            self.set(runner, runner.iteration + 1)

    def set(self, runner, count):
        for group in runner.optimizer.param_groups:
            group["lr"] = self.lr * min(1.0, count / self.iters)


class LogHook(Hook):
    def before_epoch(self, runner):
        self.values = defaultdict(list)

    def after_iter(self, runner):
        for name, value in runner.outputs["log_vars"].items():
            self.values[name].append(value)

    def after_epoch(self, runner):
        text = ", ".join(f"{name}: {sum(v) / len(v):.4f}" for name, v in self.values.items())
        print(f"Epoch [{runner.epoch + 1}] {text}")


class Runner:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer, self.hooks = model, optimizer, hooks
        self.epoch = self.iteration = 0
        self.outputs = None

    def call(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def run(self, loader, epochs):
        self.call("before_run")
        for self.epoch in range(epochs):
            self.model.train()
            self.call("before_epoch")
            for batch in loader:
                self.outputs = self.model.train_step(batch)
                self.call("after_iter")
                self.iteration += 1
            self.call("after_epoch")


class BranchDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.neck = nn.Sequential(nn.Conv2d(8, 12, 3, padding=1), nn.ReLU())
        self.heads = nn.ModuleDict({"apple": nn.Linear(12, 1), "box": nn.Linear(12, 4), "ripe": nn.Linear(12, 3)})
        self.weights = {"apple": 1.0, "box": 2.0, "ripe": 0.5}

    def extract(self, photos):
        return self.neck(self.backbone(photos)).flatten(2).mean(2)

    def loss(self, batch):
        shared = self.extract(batch["photo"])
        out = {name: head(shared) for name, head in self.heads.items()}
        there = batch["apple"] > 0.5
        losses = OrderedDict()
        losses["apple"] = F.binary_cross_entropy_with_logits(out["apple"].squeeze(1), batch["apple"])
        losses["box"] = F.smooth_l1_loss(out["box"][there], batch["box"][there])
        losses["ripe"] = F.cross_entropy(out["ripe"][there], batch["ripe"][there])
        return OrderedDict((name, self.weights[name] * value) for name, value in losses.items())

    def train_step(self, batch):
        losses = self.loss(batch)
        log_vars = {f"loss_{name}": value.item() for name, value in losses.items()}
        log_vars["loss"] = sum(log_vars.values())
        return {"losses": losses, "log_vars": log_vars}


def batches(n, size=12):
    for _ in range(n):
        apple = (torch.rand(size) < 0.7).float()
        apple[0] = 1.0
        ripe = torch.randint(0, 3, (size,))
        box = torch.rand(size, 4)
        photo = 0.1 * torch.randn(size, 3, 10, 10)
        photo[:, 0] += (apple * (1 + ripe)).view(-1, 1, 1) * box[:, :1, None]
        photo[:, 1] += (apple * (3 - ripe)).view(-1, 1, 1) * box[:, 1:2, None]
        yield {"photo": photo, "apple": apple, "box": box, "ripe": ripe}


def main():
    torch.manual_seed(11)
    model = BranchDetector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    hooks = [WarmupHook(4, 0.05), OptimizerHook(max_norm=10.0), LogHook()]
    Runner(model, optimizer, hooks).run(list(batches(5)), epochs=3)


if __name__ == "__main__":
    main()
