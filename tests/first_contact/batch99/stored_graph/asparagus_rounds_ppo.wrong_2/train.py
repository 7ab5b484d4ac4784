"""PPO for the order in which the beds of an asparagus grower are cut."""
import torch
import torch.nn.functional as F

from agent import Ledger, Cutter
from beds import Field

CLIP, ENTROPY, EPOCHS, MINIBATCH = 0.2, 0.01, 3, 40


def season(field, agent, ledger):
    obs, end, earned = field.reset(), False, 0.0
    while not end:
        action, logp, value = agent.act(obs)
        following, income, end = field.cut(int(action))
        ledger.enter(obs, action, logp, value, income, end)
        obs, earned = following, earned + income
    return earned


def improve(agent, optimizer, ledger):
    obs, actions, old_logp, adv, returns = ledger.tensors()
    clipped = []
    for _ in range(EPOCHS):
        for idx in torch.randperm(len(obs)).split(MINIBATCH):
            dist, value = agent.dist_and_value(obs[idx])
            ratio = (dist.log_prob(actions[idx]) - old_logp[idx]).detach().exp()
            gain = torch.min(ratio * adv[idx], ratio.clamp(1 - CLIP, 1 + CLIP) * adv[idx])
            loss = (-gain.mean() + 0.5 * F.mse_loss(value, returns[idx])
                    - ENTROPY * dist.entropy().mean())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            clipped.append(((ratio - 1).abs() > CLIP).float().mean().item())
    return sum(clipped) / len(clipped)


def main():
    torch.manual_seed(16)
    field = Field(seed=3)
    agent = Cutter(2 * Field.beds + 1, Field.beds)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2, eps=1e-5)
    for round_ in range(8):
        ledger = Ledger()
        earned = [season(field, agent, ledger) for _ in range(4)]
        share = improve(agent, optimizer, ledger)
        print(f"round {round_}: income {sum(earned) / 4:.2f}, clipped {share:.2f}")


if __name__ == "__main__":
    main()
