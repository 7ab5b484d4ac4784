# expect: pattern = none
# TD(lambda) with eligibility traces kept by hand, one per parameter (tabular-free backgammon
# homework, cut down to a random walk with features).
import torch
from torch import nn

torch.manual_seed(12)

N_STATES, N_FEATURES = 11, 8
GAMMA, LAMBDA, ALPHA = 1.0, 0.8, 0.05
codes = torch.randn(N_STATES, N_FEATURES)

value = nn.Sequential(nn.Linear(N_FEATURES, 10), nn.Tanh(), nn.Linear(10, 1))
traces = [torch.zeros_like(p) for p in value.parameters()]
history = []

for episode in range(30):
    for e in traces:
        e.zero_()
    s = N_STATES // 2
    v = value(codes[s])
    done = False
    while not done:
        s_next = s + (1 if torch.rand(()) < 0.5 else -1)
        done = s_next in (0, N_STATES - 1)
        reward = 1.0 if s_next == N_STATES - 1 else 0.0
        v_next = value(codes[s_next]) if not done else torch.zeros(1)

        value.zero_grad()
        v.backward()
        delta = reward + GAMMA * v_next.item() - v.item()
        with torch.no_grad():
            for p, e in zip(value.parameters(), traces):
                e.mul_(GAMMA * LAMBDA).add_(p.grad)
                p += ALPHA * delta * e

        # the parameters have moved, so the value of the new state is computed again
        s = s_next
        v = value(codes[s])
    with torch.no_grad():
        guess = value(codes[1:-1]).squeeze(-1)
    truth = torch.arange(1, N_STATES - 1) / (N_STATES - 1)
    history.append((guess - truth).pow(2).mean().sqrt())

print("rms first %.3f last %.3f" % (history[0], history[-1]))
