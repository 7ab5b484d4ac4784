# Polynomial features, and plain gradient descent written out by hand.
import torch

torch.manual_seed(3)
t = torch.linspace(-1, 1, 60)
features = torch.stack([t, t**2, t**3], dim=1)
target = torch.sin(2 * t)

weight = torch.zeros(3, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
rate = 0.05
for epoch in range(30):
    guess = features @ weight + bias
    loss = torch.nn.functional.mse_loss(guess, target)
    bias.grad = None
    loss.backward()
    with torch.no_grad():
        weight -= rate * weight.grad
        bias -= rate * bias.grad
    if epoch % 10 == 9:
        print(epoch + 1, round(loss.item(), 4))
