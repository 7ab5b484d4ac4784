# expect: pattern = none
# expect: raises = nothing
# Grad-CAM with a tensor hook; an input that is a leaf
import torch
from torch import nn


class CAM:
    def __init__(self, model, layer):
        self.model, self.gradient, self.activation = model, None, None
        layer.register_forward_hook(self._keep)

    def _keep(self, module, inputs, output):
        self.activation = output.detach()
        if output.requires_grad:
            output.register_hook(lambda g: setattr(self, "gradient", g))

    def __call__(self, image, cls):
        self.model.zero_grad()
        self.model(image)[0, cls].backward()
        weights = self.gradient.mean((2, 3), keepdim=True)
        return (weights * self.activation).sum(1).relu()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 3)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.conv2(torch.relu(self.conv1(x)))).mean((2, 3)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    x, y = torch.rand(4, 1, 10, 10), torch.randint(0, 3, (4,))
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
image = torch.rand(1, 1, 10, 10).mul(2).sub(1).requires_grad_()
heat = CAM(net, net.conv2)(image, 1)
print(heat.shape, image.grad.abs().max().item())
