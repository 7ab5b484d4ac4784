"""Plankton silhouettes with few labels. Mean teacher; the teacher is made after a short warm-up,
as a copy of the student. Features are tapped with a forward hook on any named layer."""
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Tapped(nn.Module):
    """Wraps a network and gives access to the output of one inner layer."""

    def __init__(self, net, layer=-2):
        super().__init__()
        self.net = net
        self.layer = layer
        self.hidden = None
        self.hook_registered = False

    def _find_layer(self):
        if isinstance(self.layer, str):
            return dict(self.net.named_modules())[self.layer]
        return list(self.net.children())[self.layer]

    def _hook(self, _, __, output):
        self.hidden = output.flatten(1)

    def _register_hook(self):
        self._find_layer().register_forward_hook(self._hook)
        self.hook_registered = True

    def forward(self, x):
        if not self.hook_registered:
            self._register_hook()
        logits = self.net(x)
        return logits, self.hidden


class MeanTeacher:
    def __init__(self, student, momentum=0.95, warmup=4):
        self.student = student
        self.teacher = None
        self.momentum = momentum
        self.warmup = warmup
        self.step_no = 0

    def get_teacher(self):
        if self.teacher is None:
            self.student.hidden = None  # still holds the graph of the last batch
            self.teacher = copy.deepcopy(self.student)
            for p in self.teacher.parameters():
                p.requires_grad_(False)
        return self.teacher

    @torch.no_grad()
    def update(self):
        self.step_no += 1
        if self.step_no < self.warmup:
            return
        teacher = self.get_teacher()
        for pt, ps in zip(teacher.parameters(), self.student.parameters()):
            pt.mul_(self.momentum).add_(ps, alpha=1 - self.momentum)

    def consistency(self, x):
        if self.teacher is None:
            return torch.zeros(())
        noisy = x + 0.1 * torch.randn_like(x)
        with torch.no_grad():
            soft, _ = self.teacher(x)
        logits, _ = self.student(noisy)
        return F.kl_div(F.log_softmax(logits, 1), F.softmax(soft, 1), reduction="batchmean")


def silhouettes(n):
    y = torch.randint(0, 3, (n,))
    grid = torch.linspace(-1, 1, 12)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    radius = torch.stack([xx ** 2 + yy ** 2, (2 * xx) ** 2 + yy ** 2, (xx + yy).abs()])
    x = (radius[y] < 0.4).float().unsqueeze(1)
    return x + 0.2 * torch.randn_like(x), y


torch.manual_seed(11)
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(32, 3),
)
student = Tapped(net, layer=5)
mt = MeanTeacher(student)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)

for step in range(12):
    x, y = silhouettes(12)
    unlabelled, _ = silhouettes(24)
    logits, features = student(x)
    compact = (features - features.mean(0)).pow(2).mean()
    loss = F.cross_entropy(logits, y) + 0.01 * compact + mt.consistency(unlabelled)
    opt.zero_grad()
    loss.backward()
    opt.step()
    mt.update()
    print(step, round(loss.item(), 4))
