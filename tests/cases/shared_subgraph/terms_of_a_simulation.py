# expect: pattern = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = track, model
"""A learned throw: a generator yields what the simulated track gets wrong, term by term."""
import torch

torch.manual_seed(14)
speed = torch.tensor([2.0, 4.0], requires_grad=True)
drag = torch.tensor(0.1, requires_grad=True)
optimizer = torch.optim.Adam([speed, drag], lr=5e-2)


def throw(steps=25, dt=0.05):
    place, pace, track = torch.zeros(2), speed, []
    for _ in range(steps):
        pace = pace - dt * (drag * pace * pace.norm() + torch.tensor([0.0, 9.8]))
        place = place + dt * pace
        track.append(place)
    return torch.stack(track)


def complaints(goal):
    track = throw()  # expect: place
    yield "miss", (track[-1] - goal).pow(2).sum()
    yield "height", (track[:, 1].max() - 1.0).pow(2)
    yield "drag", drag.pow(2)


for attempt in range(6):
    optimizer.zero_grad()
    for complaint in complaints(torch.tensor([2.5, 0.0])):
        complaint[1].backward()  # expect: place
    optimizer.step()
    print(attempt, speed.tolist())
