"""Self-supervised embeddings of finch songs: two crops of a song should predict each other."""
import torch
import torch.nn as nn
import torch.nn.functional as F

HYPER = dict(batch=20, epochs=4, lr=0.05, momentum=0.9, weight_decay=1e-4, crop=40)


class SongEncoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 8, 7, stride=2, bias=False), nn.BatchNorm1d(8), nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=2, bias=False), nn.BatchNorm1d(16), nn.ReLU(),
        )
        self.project = nn.Sequential(nn.Linear(16, width, bias=False), nn.BatchNorm1d(width))

    def forward(self, song):
        return self.project(self.conv(song.unsqueeze(1)).mean(dim=2))


class PairLearner(nn.Module):
    """Encoder and predictor; a crop's prediction is compared with the other crop's embedding."""

    def __init__(self, width=16):
        super().__init__()
        self.encoder = SongEncoder(width)
        self.predictor = nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, width))

    def forward(self, left, right):
        z = {"left": self.encoder(left), "right": self.encoder(right)}
        p = {side: self.predictor(code) for side, code in z.items()}
        # the embeddings only serve as goals here, they get no gradient
        goals = {"left": z["right"].detach(), "right": z["left"].detach()}
        return p, goals


def agreement_loss(predictions, goals):
    terms = [-F.cosine_similarity(predictions[s], goals[s], dim=1).mean() for s in predictions]
    return 0.5 * sum(terms)


def songs(count, length=64):
    t = torch.linspace(0, 1, length)
    base = 4 + 10 * torch.rand(count, 1)
    trill = torch.randint(1, 4, (count, 1))
    return torch.sin(2 * torch.pi * (base * t + 0.3 * torch.sin(2 * torch.pi * trill * t)))


def crop(batch, size):
    start = int(torch.randint(batch.shape[1] - size + 1, ()))
    return batch[:, start:start + size] + 0.1 * torch.randn(len(batch), size)


def spread(codes):
    """Standard deviation of the normalised codes: near zero when all songs look alike."""
    return F.normalize(codes, dim=1).std(dim=0).mean().item()


def pretrain():
    torch.manual_seed(12)
    data = songs(100)
    learner = PairLearner()
    optimizer = torch.optim.SGD(
        learner.parameters(), lr=HYPER["lr"], momentum=HYPER["momentum"], weight_decay=HYPER["weight_decay"]
    )
    for epoch in range(HYPER["epochs"]):
        running = 0.0
        for batch in data[torch.randperm(len(data))].split(HYPER["batch"]):
            left, right = crop(batch, HYPER["crop"]), crop(batch, HYPER["crop"])
            loss = agreement_loss(*learner(left, right))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        learner.eval()
        with torch.no_grad():
            codes = learner.encoder(crop(data, HYPER["crop"]))
        learner.train()
        print(f"{epoch}: loss {running:.3f}, spread {spread(codes):.3f}")


pretrain()
