# Learned task weights, turned into a simplex by a factory that returns the training step.
import torch
from torch import nn


def make_train_step(model, log_weights, optimizer, criteria):
    weights = torch.softmax(log_weights, dim=0).detach()

    def train_step(x, targets):
        outputs = model(x)
        losses = torch.stack([c(o, t) for c, o, t in zip(criteria, outputs, targets)])
        entropy = -(weights * weights.log()).sum()
        loss = (weights * losses).sum() - 0.1 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return losses.detach()

    return train_step


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 16), nn.ReLU())
        self.a, self.b, self.c = nn.Linear(16, 1), nn.Linear(16, 3), nn.Linear(16, 5)

    def forward(self, x):
        z = self.trunk(x)
        return self.a(z), self.b(z), self.c(z)


torch.manual_seed(0)
model = Heads()
log_weights = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([*model.parameters(), log_weights], lr=2e-3)
train_step = make_train_step(
    model, log_weights, optimizer, [nn.MSELoss(), nn.CrossEntropyLoss(), nn.L1Loss()]
)
for it in range(5):
    x = torch.randn(24, 5)
    losses = train_step(x, (x.sum(1, keepdim=True), x[:, :3].argmax(1), x.flip(1)))
    print(it, losses.tolist())
