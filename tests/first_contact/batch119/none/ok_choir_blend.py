"""Which singers carry which vowel? Shares of voices in the rehearsal recordings of a choir.

Every take is a mix of the singers' harmonics. The shares in a take stay positive and add up to
one, the harmonics of a singer stay positive and have the length one.
"""

import torch

TAKES, SINGERS, HARMONICS = 36, 4, 20


class Blend:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.share = torch.rand(TAKES, SINGERS).requires_grad_()
        self.timbre = torch.rand(SINGERS, HARMONICS).requires_grad_()
        self.room = torch.zeros(HARMONICS, requires_grad=True)
        self.settle()
        self.optimizer = torch.optim.RMSprop(self.tensors(), lr=5e-3)

    def tensors(self):
        return [self.share, self.timbre, self.room]

    @torch.no_grad()
    def settle(self):
        self.share = self.share.clamp_(min=1e-5)
        self.share /= self.share.sum(dim=1, keepdim=True)
        self.timbre = self.timbre.abs_()
        self.timbre /= self.timbre.norm(dim=1, keepdim=True)

    def heard(self):
        return self.share @ self.timbre * torch.exp(self.room)

    def rehearse(self, takes):
        loss = (self.heard() - takes).square().sum(dim=1).mean()
        loss = loss + 0.01 * self.room.square().sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.settle()
        return loss.item()


def recordings(seed=8):
    generator = torch.Generator().manual_seed(seed)
    share = torch.rand(TAKES, SINGERS, generator=generator).pow(3)
    timbre = torch.rand(SINGERS, HARMONICS, generator=generator).pow(4)
    takes = (share / share.sum(1, keepdim=True)) @ (timbre / timbre.norm(dim=1, keepdim=True))
    return takes * torch.linspace(0.9, 1.2, HARMONICS)


if __name__ == "__main__":
    takes, blend = recordings(), Blend(seed=1)
    for round_number in range(80):
        loss = blend.rehearse(takes)
        if round_number % 20 == 0:
            print(f"round {round_number}: {loss:.5f}, take 1: {blend.share[0].tolist()}")
    print("room:", [round(value, 2) for value in blend.room.tolist()])
