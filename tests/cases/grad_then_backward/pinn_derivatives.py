# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = u, u_t
import torch
import torch.nn as nn

torch.manual_seed(123)


class HeatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 16), nn.Linear(16, 16), nn.Linear(16, 1)])

    def forward(self, t, x):
        h = torch.cat([t, x], dim=1)
        for layer in self.layers[:-1]:
            h = torch.sin(layer(h))
        return self.layers[-1](h)


net = HeatNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for it in range(3):
    t = torch.rand(16, 1, requires_grad=True)
    x = torch.rand(16, 1, requires_grad=True)
    u = net(t, x)
    ones = torch.ones_like(u)
    u_t = torch.autograd.grad(u, t, grad_outputs=ones)[0]  # expect: place
    u_x = torch.autograd.grad(u, x, grad_outputs=ones, create_graph=True)[0]  # expect: place
    u_xx = torch.autograd.grad(u_x, x, grad_outputs=ones, create_graph=True)[0]
    x0 = torch.rand(16, 1)
    ic = (net(torch.zeros_like(x0), x0) - torch.sin(3.14159 * x0)).pow(2).mean()
    loss = (u_t - 0.1 * u_xx).pow(2).mean() + ic
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
