


"""World model for a six-legged walker, learned from logged transitions."""
import torch

from agent import WorldModel


def logged_gait(n, obs_dim, act_dim, generator):
    """A linear-ish plant with a smooth reward for moving forward without tilting."""
    obs = torch.randn(n, obs_dim, generator=generator)
    act = torch.rand(n, act_dim, generator=generator) * 2 - 1
    drive = act.view(n, 3, -1).mean(dim=2)
    nxt = 0.9 * obs
    nxt[:, :3] = nxt[:, :3] + 0.4 * torch.tanh(drive)
    reward = nxt[:, 0] - 0.3 * obs[:, 1].abs()
    fell = (obs[:, 2].abs() > 1.2).float()
    return {"obs": obs, "act": act, "next_obs": nxt, "reward": reward, "fell": fell}


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(6)
    model = WorldModel(obs_dim=10, act_dim=6, hidden=32)
    for it in range(60):
        batch = logged_gait(64, 10, 6, generator)
        report = model.update(batch)
        if it % 20 == 0 or it == 59:
            print(it, {k: round(v, 3) for k, v in report.items()})


if __name__ == "__main__":
    main()
