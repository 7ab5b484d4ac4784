"""Each task's gradient is brought to unit length before they are added (two-task toy)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 20), nn.SiLU(), nn.Dropout(0.25), nn.Linear(20, 10), nn.SiLU())
        self.angle = nn.Linear(10, 1)
        self.label = nn.Linear(10, 3)

    def forward(self, x):
        shared = self.trunk(x)
        return self.angle(shared).squeeze(-1), self.label(shared.detach())


def collect(model, loss):
    """Gradient of one task as a list of tensors, None replaced by zeros."""
    model.zero_grad()
    loss.backward()
    return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in model.parameters()]


def balanced_step(model, opt, losses):
    total = [torch.zeros_like(p) for p in model.parameters()]
    norms = []
    for loss in losses:
        grads = collect(model, loss)
        norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
        norms.append(norm.item())
        for t, g in zip(total, grads):
            t += g / (norm + 1e-8)
    for p, t in zip(model.parameters(), total):
        p.grad = t
    opt.step()
    return norms


def data(n=24):
    x = torch.randn(n, 6)
    return x, torch.atan2(x[:, 0], x[:, 1]), x[:, 2:5].argmax(dim=1)


torch.manual_seed(55)
model = TwoTask()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.8)
scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)
for it in range(8):
    x, angle, label = data()
    pred_angle, pred_label = model(x)
    norms = balanced_step(model, opt, [F.mse_loss(pred_angle, angle), F.cross_entropy(pred_label, label)])
    scheduler.step()
    print("it %d task norms %s" % (it, ["%.3f" % n for n in norms]))
