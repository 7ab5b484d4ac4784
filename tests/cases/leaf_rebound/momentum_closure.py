# expect: pattern = leaf-rebound
# expect: raises = AttributeError: 'NoneType' object has no attribute
# expect: carrier = weights, w
import torch


def make_momentum(weights, lr=0.05, beta=0.9):
    velocity = [torch.zeros_like(w) for w in weights]

    def step():
        for i, w in enumerate(weights):
            velocity[i] = beta * velocity[i] + w.grad.clone()  # expect: place
            weights[i] = w - lr * velocity[i]  # expect: place

    return step


torch.manual_seed(3)
weights = [torch.randn(1, 10, requires_grad=True), torch.randn(10, 1, requires_grad=True)]
step = make_momentum(weights)
x = torch.linspace(-1, 1, 30).unsqueeze(1)
target = x ** 3
for epoch in range(5):
    prediction = torch.tanh(x @ weights[0]) @ weights[1]
    loss = (prediction - target).square().mean()
    loss.backward()
    step()  # expect: place
    print(epoch, loss.item())
