"""An optimizer is given nothing to train.

What happens: `model.parameters()` yields nothing, so the optimizer's constructor raises an error.
The module keeps its layers in a plain list or dictionary, which it does not search for layers; it
makes them in `forward`; it has none; all of them are frozen, and a filter leaves none; or a count
or a print has already used up the generator.

The fix: use `nn.ModuleList`, `nn.ModuleDict` or `nn.ParameterList` for what a module holds, and a
list instead of a generator that is read twice.

When this fix is wrong: when the module is only meant to compute. Then give the optimizer the
tensors that should change, or leave the optimizer out.

Broken::

    import torch

    class Stack(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [torch.nn.Linear(4, 4) for _ in range(2)]

        def forward(self, x):
            for layer in self.layers:
                x = torch.tanh(layer(x))
            return x

    model = Stack()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()

Fixed::

    import torch

    class Stack(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

        def forward(self, x):
            for layer in self.layers:
                x = torch.tanh(layer(x))
            return x

    model = Stack()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
"""

from __future__ import annotations

from analyzers.repair.reconnect.registering import given_parameters

ID = "GM041"
NAME = "nothing-to-train"
FAMILY = "no-grad"
TITLE = "An optimizer is given no parameter"
KIND = "no-parameters"
PREFERS = (given_parameters,)
