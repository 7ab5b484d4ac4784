# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = logits, log_probs
"""Melanoma or nevus, "right for the right reasons".

Dermatologists marked rulers and ink in the training images; the classifier is penalised for any
input gradient on those pixels.  Trainer with callbacks, one metric dictionary per epoch.
"""
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def lesion_images(n, size=16):
    """Malignant lesions have a ragged outline; the ruler gives the label away."""
    label = torch.randint(0, 2, (n,))
    grid = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    angle = torch.atan2(yy, xx)
    ragged = 0.55 + label.view(-1, 1, 1) * 0.2 * torch.sin(5 * angle + 6.28 * torch.rand(n, 1, 1))
    image = torch.sigmoid(12 * (ragged - (xx ** 2 + yy ** 2).sqrt()))
    artefact = torch.zeros(n, size, size)
    artefact[:, -3:, :] = 1.0
    image[:, -3:, ::2] += 0.9 * label.view(-1, 1, 1)
    image += 0.1 * torch.randn_like(image)
    return image.unsqueeze(1), artefact.unsqueeze(1), label


class LesionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.c2 = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.fc = nn.Linear(12 * 16, 2)

    def forward(self, x):
        x = F.softplus(self.c1(x), beta=5)
        x = F.softplus(self.c2(x), beta=5)
        return self.fc(F.avg_pool2d(x, 2).flatten(1))


class PrintEpoch:
    def on_epoch_end(self, epoch, metrics):
        line = "  ".join(f"{k} {sum(v) / len(v):.4f}" for k, v in metrics.items())
        print(f"epoch {epoch}: {line}")


class Trainer:
    def __init__(self, net, reason_weight, callbacks=()):
        self.net = net
        self.reason_weight = reason_weight
        self.callbacks = list(callbacks)
        self.optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)

    def wrong_reasons(self, image, artefact, logits):
        log_probs = F.log_softmax(logits, dim=1)
        slope, = torch.autograd.grad(log_probs.sum(), image)  # expect: place
        return (artefact * slope).pow(2).flatten(1).sum(dim=1).mean()

    def training_step(self, image, artefact, label, metrics):
        image.requires_grad_()
        logits = self.net(image)
        answer = F.cross_entropy(logits, label)
        reason = self.wrong_reasons(image, artefact, logits)
        metrics["answer"].append(answer.item())
        metrics["reason"].append(reason.item())
        metrics["accuracy"].append((logits.argmax(1) == label).float().mean().item())
        return answer + self.reason_weight * reason

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            metrics = defaultdict(list)
            for image, artefact, label in loader:
                loss = self.training_step(image, artefact, label, metrics)
                self.optimizer.zero_grad()
                loss.backward()  # expect: place
                self.optimizer.step()
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, metrics)


if __name__ == "__main__":
    torch.manual_seed(31)
    data = TensorDataset(*lesion_images(160))
    loader = DataLoader(data, batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(1))
    Trainer(LesionNet(), reason_weight=10.0, callbacks=[PrintEpoch()]).fit(loader, epochs=5)
