"""Fish ear stones: one network reads age (regression) and species (classification) from the outline."""
import torch
from torch import nn


class OtolithNet(nn.Module):
    def __init__(self, species=3):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv1d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(8, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.age_head = nn.Linear(64, 1)
        self.species_head = nn.Linear(64, species)

    def forward(self, outline):
        features = self.backbone(outline)
        return self.age_head(features).squeeze(1), self.species_head(features.detach())


def make_fish(n):
    age, species = torch.rand(n) * 10, torch.randint(0, 3, (n,))
    angle = torch.linspace(0, 6.28, 40)
    outline = 1 + 0.05 * age[:, None] + 0.3 * torch.sin(angle * (species[:, None] + 2)) + 0.05 * torch.randn(n, 40)
    return outline.unsqueeze(1), age, species


torch.manual_seed(25)
model = OtolithNet()
mse, ce = nn.MSELoss(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(12):
    outline, age, species = make_fish(32)
    pred_age, pred_species = model(outline)
    loss_age = mse(pred_age, age) * 0.1
    loss_species = ce(pred_species, species)

    optimizer.zero_grad()
    loss_age.backward()
    loss_species.backward()
    optimizer.step()
    print(step, round(loss_age.item(), 4), round(loss_species.item(), 4))
