# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = model, self.layer, weight, self.layer.weight
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize

torch.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, X):
        return torch.tanh(X.triu() + X.triu(1).transpose(-1, -2))


class Relaxation(nn.Module):
    """Runs a symmetric recurrent layer to a fixed number of steps."""

    def __init__(self, n, steps=4):
        super().__init__()
        self.layer = parametrize.register_parametrization(nn.Linear(n, n), "weight", Symmetric())
        self.steps = steps

    def forward(self, x):
        state = x
        for _ in range(self.steps):
            state = torch.tanh(self.layer(state) + x)
        return state


model = Relaxation(6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

with parametrize.cached():  # expect: place
    for step in range(3):
        x = torch.randn(10, 6)
        loss = (model(x) - x.flip(1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
