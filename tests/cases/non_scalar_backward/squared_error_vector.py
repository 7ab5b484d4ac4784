# expect: pattern = non-scalar-backward
# expect: raises = RuntimeError: grad can be implicitly created only for scalar outputs
# expect: carrier = loss
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, bias], lr=0.05)

data = torch.randn(30, 3)
labels = data @ torch.tensor([1.0, -2.0, 0.5]) + 0.7

for epoch in range(10):
    optimizer.zero_grad()
    out = data @ w + bias
    loss = (out - labels) ** 2  # expect: place
    loss.backward()  # expect: place
    optimizer.step()
print(w, bias)
