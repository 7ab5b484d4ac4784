# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = opt, self.opt, voicing, self.voicing
"""Which reed of an organ is out of tune? Sharpness-aware: the step is made with the gradient that
the weights have at the worst place nearby. Only the ears are shifted, the voicing stays put."""
import torch
import torch.nn.functional as F
from torch import nn


class Tuner:
    def __init__(self, ears, voicing, rho=0.08, eta=0.01):
        self.ears, self.voicing = ears, voicing
        self.rho, self.eta = rho, eta
        self.opt = torch.optim.SGD(
            [*ears.parameters(), *voicing.parameters()], lr=0.05, momentum=0.9
        )
        self.shift = {}

    def loss(self, sound, reed):
        return F.cross_entropy(self.voicing(self.ears(sound)), reed)

    @torch.no_grad()
    def climb(self):
        """Adaptive: large weights may go further. The slope has served when the weights are up."""
        scaled = {w: (w.abs() + self.eta) * w.grad for w in self.ears.parameters()}
        norm = torch.stack([s.norm() for s in scaled.values()]).norm() + 1e-12
        for w, s in scaled.items():
            self.shift[w] = (w.abs() + self.eta) * s * (self.rho / norm)
            w.add_(self.shift[w])
        self.ears.zero_grad()  # expect: place

    @torch.no_grad()
    def descend(self):
        for w, shift in self.shift.items():
            w.sub_(shift)
        self.shift.clear()
        self.opt.step()  # expect: place
        self.opt.zero_grad()

    def learn(self, sound, reed):
        self.opt.zero_grad()
        calm = self.loss(sound, reed)
        calm.backward()  # expect: place
        self.climb()  # expect: place
        self.loss(sound, reed).backward()  # expect: place
        self.descend()  # expect: place
        return calm.item()


torch.manual_seed(9)
pitch = torch.randn(4, 20)
reed = torch.randint(4, (72,))
sound = pitch[reed] + 0.8 * torch.randn(72, 20)
ears = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 16), nn.Tanh())
voicing = nn.Linear(16, 4)
tuner = Tuner(ears, voicing)
for epoch in range(3):
    for rows in torch.randperm(72).split(24):
        calm = tuner.learn(sound[rows], reed[rows])
    print(epoch, round(calm, 4))
