# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace o
# expect: carrier = h
import torch
import torch.nn.functional as F


def make_block(scale):
    w = torch.nn.Parameter(torch.randn(6, 6) * scale)

    def forward(x):
        h = torch.sigmoid(x @ w)
        gate = h * x
        h -= 0.5  # expect: place
        return gate + h

    return forward, [w]


torch.manual_seed(1)
f1, p1 = make_block(0.3)
f2, p2 = make_block(0.2)
opt = torch.optim.SGD(p1 + p2, lr=0.1)
for i in range(3):
    x = torch.randn(5, 6)
    loss = F.mse_loss(f2(f1(x)), x)
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()
