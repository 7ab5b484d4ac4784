# expect: pattern = none
"""A square root with a hand-written backward that can be differentiated again; used in a slope penalty."""
import torch


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g / (2 * y)


torch.manual_seed(41)
net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(6):
    x = torch.rand(20, 2, requires_grad=True)
    y = net(x)
    slope, = torch.autograd.grad(y.sum(), x, create_graph=True)
    speed = Root.apply(slope.square().sum(1) + 1e-6)
    loss = (speed - 1).square().mean() + y.mean().square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())
