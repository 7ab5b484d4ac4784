"""Which exercise for which knee: a neural-linear bandit over the visits of a physiotherapy."""
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn

EXERCISES = ["squat", "bridge", "step-up", "clam", "heel slide"]


@dataclass
class Visit:
    code: torch.Tensor
    choice: int
    relief: float


class Clinic:
    """Patients come with eight findings; what helps them depends on two of these."""

    def __init__(self, findings=8):
        self.taste = torch.randn(len(EXERCISES), findings) * torch.tensor([1.0, 1.0] + [0.1] * (findings - 2))

    def patient(self):
        return torch.randn(self.taste.shape[1])

    def relief(self, patient, choice):
        return float(torch.tanh(self.taste[choice] @ patient) + 0.1 * torch.randn(()))

    def best(self, patient):
        return int((self.taste @ patient).argmax())


class Therapist(nn.Module):
    def __init__(self, findings=8, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(findings, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh())
        self.arms = nn.Linear(width, len(EXERCISES))
        self.history = deque(maxlen=64)

    def choose(self, patient, explore):
        phi = self.encoder(patient)
        if torch.rand(()) < explore:
            choice = int(torch.randint(len(EXERCISES), ()))
        else:
            choice = int(self.arms(phi).argmax())
        return phi, choice

    def remember(self, phi, choice, relief):
        self.history.append(Visit(phi, choice, relief))

    def regret_loss(self):
        phis = torch.stack([visit.code for visit in self.history])
        choices = torch.tensor([visit.choice for visit in self.history])
        reliefs = torch.tensor([visit.relief for visit in self.history])
        expected = self.arms(phis).gather(1, choices[:, None]).squeeze(1)
        return nn.functional.huber_loss(expected, reliefs)


def run(visits=320, every=16):
    torch.manual_seed(40)
    clinic, therapist = Clinic(), Therapist()
    opt = torch.optim.RMSprop(therapist.parameters(), lr=5e-3)
    right = []
    for n in range(1, visits + 1):
        patient = clinic.patient()
        phi, choice = therapist.choose(patient, explore=max(0.1, 1 - n / 200))
        therapist.remember(phi, choice, clinic.relief(patient, choice))
        right.append(choice == clinic.best(patient))
        if n % every == 0:
            opt.zero_grad()
            loss = therapist.regret_loss()
            loss.backward()
            opt.step()
            therapist.history.clear()
            print(f"visit {n:3d}: loss {loss.item():.4f}, best exercise in {sum(right[-every:])}/{every}")
    return therapist


if __name__ == "__main__":
    run()
