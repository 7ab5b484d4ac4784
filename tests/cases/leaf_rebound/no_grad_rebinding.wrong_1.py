import numpy as np
import torch

rng = np.random.default_rng(1)
features = torch.tensor(rng.normal(size=(60, 4)), dtype=torch.float32)
clicks = torch.tensor(rng.integers(0, 2, size=60), dtype=torch.float32)


def logistic_loss(theta):
    z = features @ theta
    return torch.nn.functional.binary_cross_entropy_with_logits(z, clicks)


theta = torch.zeros(4, requires_grad=True)
step_size = 0.5
for k in range(8):
    loss = logistic_loss(theta)
    loss = loss.requires_grad_()
    loss.backward()
    with torch.no_grad():
        if theta.grad is not None:
            theta = theta - step_size * theta.grad
    print(f"k={k} loss={loss.item():.5f}")
