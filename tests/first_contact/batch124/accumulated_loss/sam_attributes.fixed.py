import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM(torch.optim.Optimizer):
    """Sharpness-aware minimisation around any base optimizer."""

    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm()
        for group in self.param_groups:
            for p in group["params"]:
                e_w = p.grad * (group["rho"] / (norm + 1e-12))
                self.state[p]["e_w"] = e_w
                p.add_(e_w)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["e_w"])
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

    def step(self, closure=None):
        raise NotImplementedError("use first_step and second_step")


class AttributeNet(nn.Module):
    def __init__(self, num_tasks, dim=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(32, 2) for _ in range(num_tasks))

    def forward(self, x):
        z = self.trunk(x)
        return [head(z) for head in self.heads]


def get_loss(output, target, t):
    loss_t = F.cross_entropy(output[t], target[:, t])
    acc_t = (output[t].argmax(1) == target[:, t]).float().mean()
    return loss_t, acc_t


def train_epoch(model, optimizer, images, targets, num_tasks, batch_size=40):
    loss_sum, acc_sum = [0.0] * num_tasks, [0.0] * num_tasks
    for i in range(0, len(images), batch_size):
        image, target = images[i : i + batch_size], targets[i : i + batch_size]
        output = model(image)
        loss = 0
        for t in range(num_tasks):
            loss_t, acc_t = get_loss(output, target, t)
            loss += loss_t
            loss_sum[t] += loss_t.item()
            acc_sum[t] += acc_t.item()

        optimizer.zero_grad()
        loss.backward()
        optimizer.first_step(zero_grad=True)

        output = model(image)
        loss = 0
        for t in range(num_tasks):
            loss_t, acc_t = get_loss(output, target, t)
            loss += loss_t
        loss.backward()
        optimizer.second_step(zero_grad=True)
    n = len(images) // batch_size
    return [s / n for s in loss_sum], [a / n for a in acc_sum]


if __name__ == "__main__":
    torch.manual_seed(99)
    NUM_TASKS = 3
    images = torch.randn(200, 16)
    targets = (images @ torch.randn(16, NUM_TASKS) > 0).long()
    net = AttributeNet(NUM_TASKS)
    sam = SAM(net.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
    for epoch in range(4):
        losses, accs = train_epoch(net, sam, images, targets, NUM_TASKS)
        print(epoch, ["%.3f" % l for l in losses], ["%.2f" % a for a in accs])
