"""
Floor-field model of an evacuation: people prefer cells near the exit (static field) and
cells where others have just walked (dynamic field). Sensitivities and the strength of the
traces are calibrated on recorded walks, minute by minute.
"""
import torch
import torch.nn.functional as F

H = W = 12
EXIT = (0, 6)
DECAY = 0.85
SPREAD = torch.tensor([[0.0, 0.05, 0.0], [0.05, 0.8, 0.05], [0.0, 0.05, 0.0]]).view(1, 1, 3, 3)
MOVES = torch.tensor([[-1, 0], [1, 0], [0, -1], [0, 1], [0, 0]])


def exit_distance():
    rows, cols = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
    return ((rows - EXIT[0]) ** 2 + (cols - EXIT[1]) ** 2).float().sqrt()


def record_walks(n_people, n_ticks):
    """Positions [tick, person, 2]; biased random walks to the exit, entering anew once out."""
    pos = torch.stack([torch.randint(4, H, (n_people,)), torch.randint(0, W, (n_people,))], 1)
    track, dist = [pos], exit_distance()
    for _ in range(n_ticks):
        options = (pos[:, None] + MOVES).clamp(0, H - 1)
        score = -1.2 * dist[options[..., 0], options[..., 1]]
        pick = torch.distributions.Categorical(logits=score).sample()
        pos = options[torch.arange(n_people), pick]
        out = dist[pos[:, 0], pos[:, 1]] < 1
        pos = torch.where(out[:, None], torch.randint(4, H, (n_people, 2)), pos)
        track.append(pos)
    return torch.stack(track)


class Crowd:
    def __init__(self):
        self.k_static = torch.tensor(0.3, requires_grad=True)
        self.k_trail = torch.tensor(0.1, requires_grad=True)
        self.log_deposit = torch.tensor(-1.0, requires_grad=True)
        self.static = -exit_distance()
        self.trail = torch.zeros(H, W)

    def parameters(self):
        return [self.k_static, self.k_trail, self.log_deposit]

    def tick(self, pos):
        footprints = torch.zeros(H * W).index_add(0, pos[:, 0] * W + pos[:, 1], torch.ones(len(pos)))
        spread = F.conv2d(self.trail.view(1, 1, H, W), SPREAD, padding=1).view(H, W)
        self.trail = DECAY * spread + self.log_deposit.exp() * footprints.view(H, W)

    def nll(self, pos, nxt):
        options = (pos[:, None] + MOVES).clamp(0, H - 1)
        r, c = options[..., 0], options[..., 1]
        logits = self.k_static * self.static[r, c] + self.k_trail * self.trail[r, c]
        step = (options == nxt[:, None]).all(-1).float()
        inside = step.sum(1) > 0              # people who re-entered did not walk
        taken = step.argmax(1)
        return F.cross_entropy(logits[inside], taken[inside])


def calibrate(track, ticks_per_window=5, lr=0.05):
    crowd = Crowd()
    optimizer = torch.optim.Adam(crowd.parameters(), lr=lr)
    history = []
    for start in range(0, len(track) - 1, ticks_per_window):
        loss = 0.0
        for t in range(start, start + ticks_per_window):
            crowd.tick(track[t])
            loss = loss + crowd.nll(track[t], track[t + 1])
        loss = loss / ticks_per_window
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return crowd, history


if __name__ == "__main__":
    torch.manual_seed(8)
    crowd, history = calibrate(record_walks(n_people=30, n_ticks=100))
    print("nll", [round(v, 3) for v in history[::4]])
    print("k_static %.3f  k_trail %.3f  deposit %.3f" % (
        crowd.k_static.item(), crowd.k_trail.item(), crowd.log_deposit.exp().item()))
