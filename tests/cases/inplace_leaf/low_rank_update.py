# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = self.weight
import math
import torch
from torch import nn


class LoRALinear(nn.Linear):
    def __init__(self, i, o, r=2, alpha=4):
        super().__init__(i, o)
        self.lora_A = nn.Parameter(torch.empty(r, i))
        self.lora_B = nn.Parameter(torch.zeros(o, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        self.weight += self.scaling * (self.lora_B @ self.lora_A)  # expect: place
        return nn.functional.linear(x, self.weight, self.bias)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = LoRALinear(10, 20)
        self.fc2 = LoRALinear(20, 4)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def main():
    torch.manual_seed(0)
    model = Classifier()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for it in range(3):
        x, y = torch.randn(16, 10), torch.randint(0, 4, (16,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, loss.item())


main()
