# orientation of a bee on the comb from 10 body markers: network -> quaternion -> rotated template -> marker error
import torch
import torch.nn as nn

torch.manual_seed(0)


def quat_to_matrix(q):
    w, x, y, z = q.unbind(-1)
    return torch.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ], dim=-1).reshape(q.shape[:-1] + (3, 3))


def rotate(points, R):
    return torch.einsum('bij,nj->bni', R, points)


class PoseNet(nn.Module):
    def __init__(self, n_markers=10):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_markers * 3, 64), nn.LeakyReLU(0.1),
            nn.Linear(64, 64), nn.LeakyReLU(0.1),
        )
        self.rot = nn.Linear(64, 4)

    def forward(self, markers):
        h = self.body(markers.flatten(1))
        q = self.rot(h)
        q = q / q.norm(dim=-1, keepdim=True)
        return q


template = torch.randn(10, 3) * torch.tensor([1.0, 0.3, 0.2])
model = PoseNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
losses = []

for iteration in range(20):
    with torch.no_grad():
        true_q = torch.randn(32, 4)
        true_q = true_q / true_q.norm(dim=-1, keepdim=True)
        markers = rotate(template, quat_to_matrix(true_q))
        noisy = markers + 0.01 * torch.randn_like(markers)

    q = model(noisy)
    predicted = rotate(template, quat_to_matrix(q))
    loss = (predicted - markers).abs().sum(-1).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

print('first %.4f last %.4f' % (losses[0], losses[-1]))
