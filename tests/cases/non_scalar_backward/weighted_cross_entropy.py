# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss
import torch
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=None):
        super().__init__()
        self.gamma = gamma
        self.ce = nn.CrossEntropyLoss(weight=alpha, reduction="none")  # expect: place

    def forward(self, logits, target):
        ce = self.ce(logits, target)
        pt = torch.exp(-ce)
        return (1 - pt) ** self.gamma * ce  # expect: place


class Trainer:
    def __init__(self, model, criterion, lr=0.05):
        self.model, self.criterion = model, criterion
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)  # expect: place
        self.optimizer.zero_grad()
        loss.backward()  # expect: place
        self.optimizer.step()
        return loss


torch.manual_seed(4)
trainer = Trainer(nn.Linear(5, 3), FocalLoss(alpha=torch.tensor([1.0, 2.0, 0.5])))
for i in range(5):
    x = torch.randn(24, 5)
    loss = trainer.step(x, x[:, :3].argmax(1))
print("done", loss)
