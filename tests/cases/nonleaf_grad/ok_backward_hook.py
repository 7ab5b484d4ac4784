# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)


class Recorder:
    def __init__(self, module):
        self.gradient = None
        module.register_full_backward_hook(self.save)

    def save(self, module, grad_input, grad_output):
        self.gradient = grad_output[0].detach()


net = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 2))
recorder = Recorder(net[0])
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(4):
    x = torch.randn(12, 5, requires_grad=True)
    loss = nn.functional.cross_entropy(net(x), torch.randint(0, 2, (12,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(recorder.gradient.abs().mean().item(), x.grad.abs().mean().item())
