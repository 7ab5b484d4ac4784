"""A gate with its own backward, because the exported graph had to have one node. Loudness of engine noise."""
import torch
import torch.nn as nn


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        y = 1 / (1 + torch.exp(-slope * x))
        ctx.slope = slope
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * ctx.slope * y * (1 - y), None


def loudness(net, spectrum, microphone_gain):
    h = Gate.apply(net["in"](spectrum), 3.0)
    h.data *= microphone_gain
    return net["out"](h)


torch.manual_seed(4)
net = nn.ModuleDict({"in": nn.Linear(16, 24), "out": nn.Linear(24, 1)})
opt = torch.optim.NAdam(net.parameters(), lr=5e-3)
for run in range(6):
    spectrum, gain = torch.rand(20, 16), 0.5 + torch.rand(20, 1)
    loss = (loudness(net, spectrum, gain) - spectrum.sum(1, keepdim=True) * gain / 8).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(run, loss.item())
