"""Fit a template curve to target points by learning offsets through a linear basis."""
from dataclasses import dataclass
import torch


@dataclass
class Mesh:
    verts: torch.Tensor
    edges: torch.Tensor

    def offset(self, delta):
        return Mesh(self.verts + delta, self.edges)

    def edge_loss(self):
        a, b = self.verts[self.edges[:, 0]], self.verts[self.edges[:, 1]]
        return (a - b).norm(dim=1).var()

    def chamfer(self, points):
        d = torch.cdist(points, self.verts)
        return d.min(0).values.mean() + d.min(1).values.mean()


torch.manual_seed(5)
angle = torch.linspace(0, 6.2, 14)
template = Mesh(
    torch.stack([angle.cos(), angle.sin()], 1), torch.stack([torch.arange(14), torch.arange(14).roll(-1)], 1)
)
target = torch.stack([1.5 * angle.cos(), 0.7 * angle.sin()], 1) + 0.02 * torch.randn(14, 2)
basis = torch.randn(6, 28) * 0.1
coefficients = torch.full((6,), 0.1, requires_grad=True)
optimizer = torch.optim.SGD([coefficients], lr=0.5, momentum=0.9)

for it in range(4):
    deformed = template.offset((coefficients @ basis).view(14, 2))
    loss = deformed.chamfer(target) + 0.1 * deformed.edge_loss()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
