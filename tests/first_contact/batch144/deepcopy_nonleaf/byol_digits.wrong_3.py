import copy
import random

import torch
from torch import nn
import torch.nn.functional as F

# helpers

def exists(val):
    return val is not None

def default(val, d):
    return val if exists(val) else d

def regression_loss(p, z):
    p = F.normalize(p, dim = -1)
    z = F.normalize(z, dim = -1)
    return 2 - 2 * (p * z).sum(dim = -1)

# augmentation of small gray images

class RandomView(nn.Module):
    def __init__(self, max_shift = 2, noise = 0.15):
        super().__init__()
        self.max_shift = max_shift
        self.noise = noise

    def forward(self, x):
        dx = random.randint(-self.max_shift, self.max_shift)
        dy = random.randint(-self.max_shift, self.max_shift)
        x = torch.roll(x, shifts = (dx, dy), dims = (2, 3))
        gain = 0.7 + 0.6 * torch.rand(x.shape[0], 1, 1, 1)
        return x * gain + self.noise * torch.randn_like(x)

# networks

def MLP(dim, hidden_dim, out_dim):
    return nn.Sequential(
        nn.Linear(dim, hidden_dim),
        nn.BatchNorm1d(hidden_dim),
        nn.ReLU(inplace = True),
        nn.Linear(hidden_dim, out_dim)
    )

def small_convnet(dim = 32):
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride = 2, padding = 1),
        nn.ReLU(inplace = True),
        nn.Conv2d(16, dim, 3, stride = 2, padding = 1),
        nn.ReLU(inplace = True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten()
    )

class ProjectedNet(nn.Module):
    def __init__(self, net, dim, proj_dim, proj_hidden):
        super().__init__()
        self.net = net
        self.projector = MLP(dim, proj_hidden, proj_dim)
        self.hidden = None

    def forward(self, x):
        self.hidden = self.net(x)
        return self.projector(self.hidden)

class BYOL(nn.Module):
    def __init__(self, net, dim, proj_dim = 16, proj_hidden = 64, augment = None, decay = 0.99):
        super().__init__()
        self.augment = default(augment, RandomView())
        self.online = ProjectedNet(net, dim, proj_dim, proj_hidden)
        self.predictor = MLP(proj_dim, proj_hidden, proj_dim)
        self.target = None
        self.decay = decay

    def get_target(self):
        if not exists(self.target):
            self.target = copy.deepcopy(self.online)
            for p in self.target.parameters():
                p.requires_grad_(False)
        return self.target

    @torch.no_grad()
    def update_target(self):
        for ema, p in zip(self.target.parameters(), self.online.parameters()):
            ema.lerp_(p, 1 - self.decay)

    def embed(self, x):
        self.online(x)
        return self.online.hidden

    def forward(self, x):
        one, two = self.augment(x), self.augment(x)
        with torch.no_grad():
            on_one, on_two = self.online(one), self.online(two)
        pred_one = self.predictor(on_one)
        pred_two = self.predictor(on_two)

        with torch.no_grad():
            target = self.get_target()
            proj_one, proj_two = target(one), target(two)

        loss = regression_loss(pred_one, proj_two) + regression_loss(pred_two, proj_one)
        return loss.mean()

# data: seven-segment digits

SEGMENTS = ['abcdef', 'bc', 'abged', 'abgcd', 'fgbc', 'afgcd', 'afgedc', 'abc', 'abcdefg', 'abcdfg']
STROKES = dict(a = (2, slice(4, 9)), g = (7, slice(4, 9)), d = (12, slice(4, 9)),
               b = (slice(2, 8), 9), c = (slice(7, 13), 9), f = (slice(2, 8), 3), e = (slice(7, 13), 3))

def digits(n):
    labels = torch.randint(0, 10, (n,))
    images = torch.zeros(n, 1, 16, 16)
    for image, label in zip(images, labels.tolist()):
        for s in SEGMENTS[label]:
            image[0][STROKES[s]] = 1.
    return images, labels

@torch.no_grad()
def centroid_accuracy(learner, images, labels):
    learner.eval()
    z = F.normalize(learner.embed(images), dim = -1)
    centroids = torch.stack([z[labels == c].mean(dim = 0) for c in range(10)])
    learner.train()
    return (z @ centroids.t()).argmax(dim = -1).eq(labels).float().mean().item()

# training

def main():
    torch.manual_seed(11)
    random.seed(11)
    images, labels = digits(256)
    learner = BYOL(small_convnet(), dim = 32)
    params = [*learner.online.parameters(), *learner.predictor.parameters()]
    opt = torch.optim.Adam(params, lr = 3e-4)

    for epoch in range(3):
        for batch in images[torch.randperm(256)].split(64):
            loss = learner(batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
            learner.update_target()
        print(f'{epoch}: loss {loss.item():.3f} acc {centroid_accuracy(learner, images, labels):.3f}')

if __name__ == '__main__':
    main()
