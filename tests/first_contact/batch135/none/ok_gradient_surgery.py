# expect: pattern = none
# expect: raises = nothing
"""Predictive maintenance: a stateful LSTM with two tasks whose conflicting gradients are projected."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class RunConfig:
    sensors: int = 5
    hidden: int = 20
    batch_size: int = 6
    chunk: int = 10
    chunks: int = 6
    epochs: int = 2
    lr: float = 5e-3


class Monitor(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.lstm = nn.LSTM(cfg.sensors, cfg.hidden, batch_first=True)
        self.heads = nn.ModuleDict({"wear": nn.Linear(cfg.hidden, 1), "fault": nn.Linear(cfg.hidden, 1)})

    def forward(self, readings, state=None):
        features, state = self.lstm(readings, state)
        return {name: head(features).squeeze(-1) for name, head in self.heads.items()}, state

    def shared(self):
        return list(self.lstm.parameters())


def task_losses(outputs, batch):
    return {
        "wear": F.mse_loss(outputs["wear"], batch["wear"]),
        "fault": F.binary_cross_entropy_with_logits(outputs["fault"], batch["fault"]),
    }


def project(gradients):
    """PCGrad: take out of every gradient what points against another one."""
    flat = [torch.cat([g.flatten() for g in grads]) for grads in gradients]
    result = torch.zeros_like(flat[0])
    for i, own in enumerate(flat):
        own = own.clone()
        for j, other in enumerate(flat):
            overlap = own @ other
            if j != i and overlap < 0:
                own -= overlap / other.pow(2).sum() * other
        result += own
    return result


class Surgeon:
    def __init__(self, model, cfg):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
        self.state = None

    def start_sequence(self):
        self.state = None

    def step(self, batch):
        outputs, state = self.model(batch["readings"], self.state)
        self.state = tuple(part.detach() for part in state)
        losses = task_losses(outputs, batch)
        self.optimizer.zero_grad()
        shared = self.model.shared()
        gradients = [torch.autograd.grad(loss, shared, retain_graph=True) for loss in losses.values()]
        sum(losses.values()).backward()
        self.write_back(shared, project(gradients))
        self.optimizer.step()
        return {name: loss.item() for name, loss in losses.items()}

    @staticmethod
    def write_back(parameters, flat):
        offset = 0
        for p in parameters:
            p.grad = flat[offset : offset + p.numel()].view_as(p)
            offset += p.numel()


def machine_history(cfg):
    """One long recording, cut into chunks that follow each other."""
    steps = cfg.chunk * cfg.chunks
    wear = (0.05 * torch.rand(cfg.batch_size, steps)).cumsum(dim=1)
    readings = wear.unsqueeze(-1) * torch.linspace(0.2, 1, cfg.sensors)
    readings = readings + 0.1 * torch.randn_like(readings)
    fault = (wear > 0.8).float()
    for part in range(cfg.chunks):
        cut = slice(part * cfg.chunk, (part + 1) * cfg.chunk)
        yield {"readings": readings[:, cut], "wear": wear[:, cut], "fault": fault[:, cut]}


def main():
    torch.manual_seed(1)
    cfg = RunConfig()
    surgeon = Surgeon(Monitor(cfg), cfg)
    for epoch in range(cfg.epochs):
        surgeon.start_sequence()
        history = [surgeon.step(batch) for batch in machine_history(cfg)]
        means = {name: sum(entry[name] for entry in history) / len(history) for name in history[0]}
        print(f"epoch {epoch}: " + "  ".join(f"{name} {value:.4f}" for name, value in means.items()))


if __name__ == "__main__":
    main()
