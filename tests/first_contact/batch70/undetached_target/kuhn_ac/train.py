# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = edge, value, payoff - value, hands
import torch
import torch.nn.functional as F

from nets import Bettor, HandValue
from table import N_FEATURES, play


class Trainer:
    def __init__(self, hands_per_round=128, entropy_bonus=0.01):
        self.bettor = Bettor(N_FEATURES)
        self.critic = HandValue(N_FEATURES)
        self.opt_bettor = torch.optim.Adam(self.bettor.parameters(), lr=5e-3)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-2)
        self.n = hands_per_round
        self.bonus = entropy_bonus

    def fit_critic(self, hands):
        loss = F.mse_loss(hands.value, hands.payoff)
        self.opt_critic.zero_grad()
        loss.backward()
        self.opt_critic.step()
        return loss.item()

    def fit_bettor(self, hands):
        loss = -(hands.logp * hands.edge).mean() - self.bonus * hands.entropy.mean()  # expect: place
        self.opt_bettor.zero_grad()
        loss.backward()  # expect: place
        self.opt_bettor.step()
        return loss.item()

    def round(self):
        hands = play(self.bettor, self.critic, self.n)
        v = self.fit_critic(hands)
        p = self.fit_bettor(hands)
        return v, p, hands.payoff.mean().item()


if __name__ == "__main__":
    torch.manual_seed(4)
    trainer = Trainer()
    for r in range(8):
        v, p, won = trainer.round()
        print(f"round {r}  critic {v:.3f}  bettor {p:+.3f}  chips/hand {won:+.3f}")
