# Penalise drift of the hidden activations between consecutive batches.
import torch
import torch.nn as nn

torch.manual_seed(4)


class ActivationKeeper:
    def __init__(self, module):
        self.activations = []
        self.handle = module.register_forward_hook(self.save)

    def save(self, module, args, output):
        self.activations.append(output.mean(dim=0).detach())

    def drift(self):
        if len(self.activations) < 2:
            return torch.tensor(0.0)
        return (self.activations[-1] - self.activations[-2]).pow(2).sum()


model = nn.Sequential(nn.Linear(8, 32), nn.Sigmoid(), nn.Linear(32, 2))
keeper = ActivationKeeper(model[1])
opt = torch.optim.SGD(model.parameters(), lr=0.2)

for step in range(4):
    inputs = torch.randn(16, 8)
    target = (inputs.sum(1) > 0).long()
    loss = nn.functional.cross_entropy(model(inputs), target) + 0.5 * keeper.drift()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("step", step, "loss", round(loss.item(), 4))
