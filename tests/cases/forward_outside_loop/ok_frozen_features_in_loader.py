# expect: pattern = none
# Features are computed once, by a network that does not learn: the loader holds plain numbers.
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@torch.inference_mode()
def extract(backbone, images):
    return torch.cat([backbone(chunk) for chunk in images.split(16)])


torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv1d(1, 6, 5), nn.ReLU(), nn.AdaptiveMaxPool1d(4), nn.Flatten()).eval()
images = torch.randn(48, 1, 32)
labels = (images.amax(dim=(1, 2)) > 2).long()
features = extract(backbone, images).clone()
loader = DataLoader(TensorDataset(features, labels), batch_size=12, shuffle=True)

head = nn.Linear(24, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.2)
for epoch in range(3):
    for z, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(z), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
