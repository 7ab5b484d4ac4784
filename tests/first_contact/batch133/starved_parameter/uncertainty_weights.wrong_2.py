"""Scene understanding with three heads; the balance of the losses is learned as well."""
import torch
import torch.nn.functional as F
from torch import nn

TASKS = ("depth", "segments", "normals")


class SharedEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.GroupNorm(2, width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(2, width), nn.ReLU(),
        )

    def forward(self, x):
        return self.layers(x)


class SceneNet(nn.Module):
    def __init__(self, width=12, n_segments=4):
        super().__init__()
        self.encoder = SharedEncoder(width)
        self.heads = nn.ModuleDict({
            "depth": nn.Conv2d(width, 1, 1),
            "segments": nn.Conv2d(width, n_segments, 1),
            "normals": nn.Conv2d(width, 3, 1),
        })

    def forward(self, image):
        h = self.encoder(image)
        return {name: head(h) for name, head in self.heads.items()}


def depth_loss(pred, target):
    return F.l1_loss(pred.squeeze(1), target)


def segment_loss(pred, target):
    return F.cross_entropy(pred, target)


def normal_loss(pred, target):
    return 1 - F.cosine_similarity(pred, target, dim=1).mean()


class MultiTaskLoss(nn.Module):
    """Homoscedastic uncertainty: every task has a learned log variance."""

    def __init__(self, criteria):
        super().__init__()
        self.criteria = criteria
        self.log_vars = nn.Parameter(torch.zeros(len(criteria)))

    def forward(self, outputs, batch):
        total, report = 0.0, {}
        for i, (task, criterion) in enumerate(self.criteria.items()):
            loss = criterion(outputs[task], batch[task])
            log_var = self.log_vars[i].detach()
            precision = torch.exp(-log_var)
            total = total + precision * loss + 0.5 * log_var
            report[task] = loss.item()
        return total, report


class SceneTrainer:
    def __init__(self, lr=5e-3):
        self.model = SceneNet()
        self.criterion = MultiTaskLoss(dict(zip(TASKS, (depth_loss, segment_loss, normal_loss))))
        self.optimizer = torch.optim.Adam([
            {"params": self.model.parameters(), "lr": lr},
            {"params": self.criterion.parameters(), "lr": 10 * lr},
        ])

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for batch in loader:
                self.optimizer.zero_grad()
                total, report = self.criterion(self.model(batch["image"]), batch)
                total.backward()
                self.optimizer.step()
            sigmas = self.criterion.log_vars.detach().mul(0.5).exp().tolist()
            print(f"epoch {epoch}:", {k: round(v, 3) for k, v in report.items()},
                  "sigma", [round(s, 3) for s in sigmas])


def make_batches(n_batches, size=4, side=12):
    batches = []
    for _ in range(n_batches):
        image = torch.rand(size, 3, side, side)
        depth = 8 * image.mean(1) + torch.randn(size, side, side)
        normals = F.normalize(torch.stack([image[:, 0] - 0.5, image[:, 1] - 0.5, torch.ones_like(depth)], 1), dim=1)
        batches.append({"image": image, "depth": depth, "segments": (image[:, 2] * 4).long(), "normals": normals})
    return batches


if __name__ == "__main__":
    torch.manual_seed(9)
    SceneTrainer().fit(make_batches(5), epochs=2)
