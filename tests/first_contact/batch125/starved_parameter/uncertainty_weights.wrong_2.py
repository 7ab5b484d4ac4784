"""Two heads on one trunk, their losses weighted by learned homoscedastic uncertainty."""
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(8)


class SceneNet(nn.Module):
    def __init__(self, n_in=12, n_classes=5):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU())
        self.depth_head = nn.Linear(32, 1)
        self.label_head = nn.Linear(32, n_classes)

    def forward(self, x):
        features = self.trunk(x)
        return self.depth_head(features).squeeze(-1), self.label_head(features)


class UncertaintyLoss(nn.Module):
    """sum_i exp(-s_i) * L_i + s_i, where s_i is the log of the variance of task i."""

    def __init__(self):
        super().__init__()
        self.log_var_depth = nn.Parameter(torch.tensor(0.0))
        self.log_var_labels = nn.Parameter(torch.tensor(0.0))

    def forward(self, depth_loss, label_loss):
        log_vars = torch.tensor([self.log_var_depth, self.log_var_labels])
        losses = torch.stack([depth_loss, label_loss])
        precision = torch.exp(-log_vars)
        return (precision * losses).sum() + self.log_var_depth + self.log_var_labels


def make_scenes(n=600):
    x = torch.randn(n, 12)
    depth = 4.0 * torch.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * torch.randn(n)
    labels = (x @ torch.randn(12, 5)).argmax(1)
    return x, depth, labels


x, depth, labels = make_scenes()
net = SceneNet()
criterion = UncertaintyLoss()
optimizer = torch.optim.Adam([
    {"params": net.parameters(), "lr": 2e-3},
    {"params": criterion.parameters(), "lr": 1e-2},
])

for epoch in range(6):
    for index in torch.randperm(len(x)).split(60):
        predicted_depth, logits = net(x[index])
        depth_loss = F.mse_loss(predicted_depth, depth[index])
        label_loss = F.cross_entropy(logits, labels[index])
        loss = criterion(depth_loss, label_loss)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: depth {depth_loss.item():.3f} labels {label_loss.item():.3f} "
          f"s = ({criterion.log_var_depth.item():+.3f}, {criterion.log_var_labels.item():+.3f})")
