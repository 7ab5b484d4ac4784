import torch
import torch.nn.functional as F


class TwoLayer:
    """Two-layer net with a hand-written update rule."""

    def __init__(self, sizes, lr):
        n_in, n_hid, n_out = sizes
        self.lr = lr
        self.params = {
            "W1": torch.randn(n_in, n_hid) * 0.4,
            "b1": torch.zeros(n_hid),
            "W2": torch.randn(n_hid, n_out) * 0.4,
            "b2": torch.zeros(n_out),
        }
        for p in self.params.values():
            p.requires_grad = True

    def __call__(self, x):
        p = self.params
        return F.relu(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]

    def update(self):
        with torch.no_grad():
            for p in self.params.values():
                p -= self.lr * p.grad
                p.grad = None


torch.manual_seed(2)
net = TwoLayer((5, 16, 3), lr=0.1)
for epoch in range(6):
    x = torch.randn(32, 5)
    loss = F.cross_entropy(net(x), x[:, :3].argmax(1))
    loss.backward()
    net.update()
    print(epoch, round(loss.item(), 4))
