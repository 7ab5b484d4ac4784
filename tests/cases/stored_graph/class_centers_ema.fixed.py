import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
NUM_CLASSES, DIM = 3, 6
net = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, DIM))
head = nn.Linear(DIM, NUM_CLASSES)
optimizer = torch.optim.SGD(list(net.parameters()) + list(head.parameters()), lr=0.1)
prototypes = {c: torch.zeros(DIM) for c in range(NUM_CLASSES)}


def update_prototypes(embeddings, labels, decay=0.8):
    for c in labels.unique().tolist():
        center = embeddings[labels == c].mean(dim=0)
        prototypes[c] = decay * prototypes[c].detach() + (1 - decay) * center


def compactness(embeddings, labels):
    own = torch.stack([prototypes[c] for c in labels.tolist()])
    return (1 - F.cosine_similarity(embeddings, own + 1e-3)).mean()


for it in range(5):
    labels = torch.arange(12) % NUM_CLASSES
    points = torch.randn(12, 4) + labels[:, None].float()
    emb = net(points)
    update_prototypes(emb, labels)
    loss = F.cross_entropy(head(emb), labels) + 0.1 * compactness(emb, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
