import torch
from torch import nn

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())
        self.depth_head = nn.Linear(16, 1)
        self.label_head = nn.Linear(16, 5)

    def forward(self, x):
        features = self.trunk(x)
        return self.depth_head(features).squeeze(-1), self.label_head(features)


model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for it in range(4):
    x = torch.randn(12, 8)
    depth, labels = x[:, 0].abs(), torch.randint(0, 5, (12,))
    depth_pred, label_logits = model(x)
    depth_loss = nn.functional.l1_loss(depth_pred, depth)
    label_loss = nn.functional.cross_entropy(label_logits, labels)

    optimizer.zero_grad()
    depth_loss.backward()
    label_loss.detach().requires_grad_().backward()
    optimizer.step()
