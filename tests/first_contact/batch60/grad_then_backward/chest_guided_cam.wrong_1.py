


"""Chest film classifier whose class activation map is pulled towards the reader's lesion outline."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class FilmNet(nn.Module):
    def __init__(self, findings=3):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        )
        self.neck = nn.Conv2d(16, 16, 3, padding=1)
        self.head = nn.Linear(16, findings)

    def classify(self, maps):
        pooled = F.relu(self.neck(maps)).mean(dim=(2, 3))
        return self.head(pooled)

    def forward(self, film):
        maps = self.stem(film)
        return self.classify(maps), maps


def synthetic_films(n, size=32):
    films = 0.3 * torch.randn(n, 1, size, size)
    outline = torch.zeros(n, 1, size, size)
    finding = torch.randint(0, 3, (n,))
    for k in range(n):
        r, c = torch.randint(4, size - 10, (2,)).tolist()
        films[k, 0, r : r + 6, c : c + 6] += 1.0 + finding[k]
        outline[k, 0, r : r + 6, c : c + 6] = 1.0
    return films, finding, outline


class GuidedTraining:
    def __init__(self, net, pull=0.5):
        self.net, self.pull = net, pull
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

    def activation_map(self, logits, maps, finding):
        maps = maps.detach().requires_grad_()
        score = self.net.classify(maps).gather(1, finding[:, None]).sum()
        (slope,) = torch.autograd.grad(score, maps)
        importance = slope.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((importance * maps).sum(dim=1, keepdim=True))
        top = cam.amax(dim=(2, 3), keepdim=True) + 1e-6
        return cam / top

    def losses(self, films, finding, outline):
        logits, maps = self.net(films)
        cam = self.activation_map(logits, maps, finding)
        where = F.adaptive_max_pool2d(outline, cam.shape[-2:])
        return {
            "finding": F.cross_entropy(logits, finding),
            "where": self.pull * (cam * (1 - where)).mean(),
        }

    def step(self, batch):
        parts = self.losses(*batch)
        self.optimizer.zero_grad()
        sum(parts.values()).backward()
        self.optimizer.step()
        return {name: round(part.item(), 4) for name, part in parts.items()}


if __name__ == "__main__":
    torch.manual_seed(77)
    training = GuidedTraining(FilmNet())
    for it in range(6):
        print(it, training.step(synthetic_films(16)))
