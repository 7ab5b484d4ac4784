# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn.functional as F

torch.manual_seed(3)
w1 = (torch.randn(10, 20) * 0.3).requires_grad_()
w2 = (torch.randn(20, 1) * 0.3).requires_grad_()
opt = torch.optim.SGD([w1, w2], lr=0.05)

for t in range(6):
    x = torch.randn(16, 10)
    h = x.mm(w1)
    h.add_(0.1)
    F.relu_(h)
    y = h.mm(w2)
    y -= x[:, :1]
    loss = y.pow(2).mean()
    loss += 1e-3 * w1.abs().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(t, loss.item())
