# Cave survey: `draw` turns laser echoes into a wall profile, `judge` learns how rough the wall is
# from the profile. Each has an optimizer of its own, and draw is meant to learn from the profile only.
import torch
import torch.nn.functional as F

torch.manual_seed(11)

draw = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.ELU(), torch.nn.Linear(20, 6))
judge = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ELU(), torch.nn.Linear(8, 1))
opt_map = torch.optim.Adam(draw.parameters(), lr=3e-3)
opt_judge = torch.optim.Adam(judge.parameters(), lr=3e-3)
walls = torch.randn(6, 10)


def survey(n=32):
    profile = torch.randn(n, 6)
    echoes = profile @ walls + 0.1 * torch.randn(n, 10)
    roughness = profile.diff(dim=1).abs().mean(1, keepdim=True)
    return echoes, profile, roughness


for station in range(80):
    echoes, profile, roughness = survey()

    map_loss = F.mse_loss(draw(echoes), profile)
    map_loss.backward()
    opt_map.step()
    opt_map.zero_grad()

    judge_loss = F.smooth_l1_loss(judge(draw(echoes).detach()), roughness)
    judge_loss.backward()
    opt_judge.step()
    opt_judge.zero_grad()

    if station % 20 == 0:
        print(f"station {station:3d}  map {map_loss.item():.4f}  judge {judge_loss.item():.4f}")
