# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(4)


class NoisyEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 6)
        self.out = nn.Linear(6, 9)

    def forward(self, x):
        rate = nn.functional.softplus(self.fc(x))
        rate += 0.05 * torch.randn_like(rate)
        rate.clamp_(min=1e-4)
        return self.out(rate)


model = NoisyEncoder()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
for _ in range(5):
    x = torch.rand(20, 9)
    loss = (model(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reconstruction", round(loss.item(), 5))
