"""Successor features on a small grid, learned from logged moves (no environment needed here).

The features are the reward regression's own hidden layer: r ~ phi(s') w, and psi(s, a) sums the
discounted features to come, so q(s, a) = psi(s, a) w. Logged with an epsilon-greedy robot, 6x6 floor.
"""
# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = goal, batch, target, batch["goal"], future, self.encode, phi
import torch
from torch import nn

torch.manual_seed(5)

SIDE, ACTIONS, FEATURES, GAMMA = 6, 4, 8, 0.9
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


def logged_moves(n):
    cell = torch.randint(0, SIDE, (n, 2))
    action = torch.randint(0, ACTIONS, (n,))
    arrived = (cell + MOVES[action]).clamp(0, SIDE - 1)
    done = (arrived == SIDE - 1).all(dim=1).float()
    mud = ((arrived[:, 0] == 2) & (arrived[:, 1] > 1)).float()
    scale = float(SIDE - 1)
    return {"s": cell / scale, "a": action, "s2": arrived / scale, "r": done - 0.3 * mud, "done": done}


class SuccessorAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, FEATURES), nn.Tanh())
        self.task = nn.Linear(FEATURES, 1, bias=False)
        self.psi = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, ACTIONS * FEATURES))
        self.slow_psi = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, ACTIONS * FEATURES))
        self.slow_psi.load_state_dict(self.psi.state_dict())
        self.slow_psi.requires_grad_(False)

    def successors(self, net, state):
        return net(state).view(-1, ACTIONS, FEATURES)

    @torch.no_grad()
    def best_action(self, state):
        return self.task(self.successors(self.psi, state)).squeeze(-1).argmax(dim=1)

    def backup(self, batch):
        """phi(s') + gamma * psi_slow(s', best a')"""
        rows = torch.arange(len(batch["a"]))
        future = self.successors(self.slow_psi, batch["s2"])[rows, self.best_action(batch["s2"])]
        return self.encode(batch["s2"]) + GAMMA * (1 - batch["done"])[:, None] * future  # expect: place

    @torch.no_grad()
    def follow(self, tau=0.05):
        for slow, fast in zip(self.slow_psi.parameters(), self.psi.parameters()):
            slow.lerp_(fast, tau)


class Replay:
    """Hands out batches with the goals of the successor loss already in place."""

    def __init__(self, moves, agent):
        self.moves, self.agent = moves, agent

    def draw(self, size):
        idx = torch.randint(0, len(self.moves["a"]), (size,))
        batch = {name: column[idx] for name, column in self.moves.items()}
        batch["goal"] = self.agent.backup(batch)  # expect: place
        return batch


agent = SuccessorAgent()
replay = Replay(logged_moves(2000), agent)
optimizer = torch.optim.Adam([p for p in agent.parameters() if p.requires_grad], lr=2e-3)

for step in range(60):
    batch = replay.draw(64)
    chosen = agent.successors(agent.psi, batch["s"])[torch.arange(64), batch["a"]]
    reward_hat = agent.task(agent.encode(batch["s2"])).squeeze(-1)
    reward_loss = (reward_hat - batch["r"]).pow(2).mean()
    psi_loss = (chosen.detach() - batch["goal"]).pow(2).sum(dim=1).mean()  # expect: place
    loss = reward_loss + psi_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    agent.follow()
    if step % 20 == 19:
        with torch.no_grad():
            spread = agent.encode(replay.moves["s2"]).std(dim=0).mean().item()
        print(f"step {step}: reward {reward_loss.item():.4f}  psi {psi_loss.item():.4f}  spread of phi {spread:.4f}")
