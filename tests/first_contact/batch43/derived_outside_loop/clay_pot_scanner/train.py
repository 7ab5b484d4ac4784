# expect: pattern = derived-outside-loop
# expect: also = stored-graph, forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = rays, self.rays, rays_o, rays_d, c2w, poses
"""Density of a clay pot on a turntable from silhouettes; camera poses are off by a bit and get refined along the way."""
import torch
import torch.nn.functional as F

from cameras import LearnPose
from field import DensityField, render
from rays import RayDataset, silhouettes


def main():
    torch.manual_seed(19)
    n_cams, H, W, focal = 4, 8, 8, 9.0
    init, images = silhouettes(n_cams, H, W, focal)
    pose_net = LearnPose(n_cams, init)
    field = DensityField()
    dataset = RayDataset(pose_net, images, H, W, focal)  # expect: place

    optimizer = torch.optim.Adam([
        {"params": field.parameters(), "lr": 5e-3},
        {"params": pose_net.parameters(), "lr": 1e-3},
    ])
    for it in range(20):
        rays_o, rays_d, target = dataset.sample(96)
        acc = render(field, rays_o, rays_d)
        loss = F.mse_loss(acc, target)
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        if it % 5 == 0:
            print(f"{it:3d} loss {loss.item():.5f} |r| {pose_net.r.norm().item():.5f}")


if __name__ == "__main__":
    main()
