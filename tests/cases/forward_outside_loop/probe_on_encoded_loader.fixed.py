# A linear probe: images go through the encoder once, the head is trained on what came out.
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def build_encoder():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(4, 8, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


@torch.no_grad()
def extract(encoder, images, batch_size=20):
    encoder.eval()
    chunks = []
    for start in range(0, len(images), batch_size):
        chunks.append(encoder(images[start : start + batch_size]))
    return torch.cat(chunks)


def train_probe(head, loader, epochs=3, lr=0.1):
    optimizer = torch.optim.SGD(head.parameters(), lr=lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        correct = seen = 0
        for feats, target in loader:
            logits = head(feats)
            loss = loss_fn(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(1) == target).sum().item()
            seen += len(target)
        print(f"epoch {epoch}: {correct / seen:.2%}")


if __name__ == "__main__":
    torch.manual_seed(0)
    images = torch.randn(60, 1, 12, 12)
    labels = (images.mean((1, 2, 3)) > 0).long()
    encoder = build_encoder()
    features = extract(encoder, images)
    train_loader = DataLoader(TensorDataset(features, labels), batch_size=15, shuffle=True)
    train_probe(nn.Linear(8, 2), train_loader)
