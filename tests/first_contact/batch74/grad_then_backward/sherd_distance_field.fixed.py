"""A signed distance field for a scanned pottery sherd (here: a bent ring in the plane)."""
import numpy as np
import torch
import torch.nn as nn


class SDF(nn.Module):
    def __init__(self, width=32, depth=3):
        super().__init__()
        dims = [2] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))
        self.last = nn.Linear(width, 1)
        self.act = nn.Softplus(beta=20)

    def forward(self, x):
        for layer in self.hidden:
            x = self.act(layer(x))
        return self.last(x)


def gradient(inputs, outputs):
    return torch.autograd.grad(
        outputs=outputs,
        inputs=inputs,
        grad_outputs=torch.ones_like(outputs),
        create_graph=True)[0]


class Scan:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        phi = rng.uniform(0, 2 * np.pi, n)
        radius = 0.6 + 0.05 * np.cos(3 * phi)
        outward = np.stack([np.cos(phi), np.sin(phi)], 1)
        self.points = torch.tensor(outward * radius[:, None], dtype=torch.float32)
        self.normals = torch.tensor(outward, dtype=torch.float32)

    def sample(self, n):
        pick = torch.randint(len(self.points), (n,))
        return self.points[pick], self.normals[pick]


class Runner:
    def __init__(self, scan):
        self.scan = scan
        self.network = SDF()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=5e-3)
        self.grad_lambda, self.normals_lambda = 0.1, 1.0

    def step(self):
        surface, scanned = self.scan.sample(48)
        surface = surface.requires_grad_()
        space = (torch.rand(48, 2) * 2 - 1).requires_grad_()

        sdf = self.network(surface)
        off = self.network(space)
        normals = gradient(surface, sdf)
        grad = gradient(space, off)
        mnfld_loss = sdf.abs().mean()
        grad_loss = (grad.norm(2, dim=-1) - 1).pow(2).mean()
        normals_loss = (normals - scanned).norm(2, dim=1).mean()
        loss = mnfld_loss + self.grad_lambda * grad_loss + self.normals_lambda * normals_loss

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return mnfld_loss.item(), grad_loss.item()


torch.manual_seed(77)
runner = Runner(Scan(400, seed=3))
for epoch in range(15):
    manifold, eikonal = runner.step()
    if epoch % 5 == 4:
        print("epoch %d  manifold %.4f  eikonal %.4f" % (epoch, manifold, eikonal))
