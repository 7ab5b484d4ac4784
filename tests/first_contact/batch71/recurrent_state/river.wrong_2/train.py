import torch

from basin import Basin
from records import Archive, SkillLog
from router import Router

EDGES = [(0, 2), (1, 2), (2, 4), (3, 4), (4, 5)]
WINDOW = 6


def window_loss(router, basin, archive, start):
    errors = []
    for hour in range(start, start + WINDOW):
        stages = router(basin, archive.rain[hour])
        for gauge in basin.gauges:
            gauge.read(archive.level, hour)
            errors.append((stages[gauge.reach_id] - gauge.level) ** 2)
    return torch.stack(errors).mean()


def main():
    torch.manual_seed(2)
    basin = Basin(EDGES, n_reaches=6, dim=8)
    archive = Archive(basin, hours=36)
    router = Router(dim=8)
    opt = torch.optim.Adam(router.parameters(), lr=1e-2)

    for season in range(2):
        basin.dry_out()
        skill = SkillLog()
        for start in range(0, 36, WINDOW):
            loss = window_loss(router, basin, archive, start)
            opt.zero_grad()
            loss.backward()
            opt.step()
            skill.add(loss)
        print(f"season {season}: mse {skill.summary():.4f}")


if __name__ == "__main__":
    main()
