# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = disc_optimizer, disc
"""Distil a many-step denoiser of woven border patterns into a one-step student."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(88)
WIDTH = 24


class Denoiser(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(WIDTH + 1, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, WIDTH))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


class Disc(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH + 1, hidden), nn.LeakyReLU(0.2))
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, t):
        return self.head(self.body(torch.cat([x, t], dim=1)))


def renoise(x, t):
    return (1 - t) * x + t * torch.randn_like(x)


@torch.no_grad()
def teacher_samples(teacher, n, steps=6):
    x = torch.randn(n, WIDTH)
    for k in range(steps, 0, -1):
        t = torch.full((n, 1), k / steps)
        x = x - (1 / steps) * (x - teacher(x, t)) / t
    return x


def borders(n):
    phase = torch.rand(n, 1) * 6.28
    return torch.sign(torch.sin(torch.linspace(0, 12, WIDTH) + phase))


teacher, student, disc = Denoiser(), Denoiser(), Disc()
teacher_optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
for _ in range(60):
    clean, t = borders(32), torch.rand(32, 1)
    loss = F.mse_loss(teacher(renoise(clean, t), t), clean)
    teacher_optimizer.zero_grad()
    loss.backward()
    teacher_optimizer.step()
student.load_state_dict(teacher.state_dict())

student_optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
disc_optimizer = torch.optim.AdamW(disc.parameters(), lr=2e-3)
for iteration in range(25):
    real = teacher_samples(teacher, 32)
    ones = torch.ones(32, 1)
    fake = student(torch.randn(32, WIDTH), ones)

    t = torch.rand(32, 1)
    disc_loss = (F.relu(1 - disc(renoise(real, t), t)) + F.relu(1 + disc(renoise(fake.detach(), t), t))).mean()
    disc_loss.backward()  # expect: place
    nn.utils.clip_grad_norm_(disc.parameters(), 1.0)
    disc_optimizer.step()  # expect: place
    disc_optimizer.zero_grad()  # expect: place

    t = torch.rand(32, 1)
    student_loss = -disc(renoise(fake, t), t).mean()
    student_loss.backward()  # expect: place
    nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    student_optimizer.step()
    student_optimizer.zero_grad()
    if iteration % 8 == 0:
        print(iteration, "disc %.4f  student %.4f" % (disc_loss.item(), student_loss.item()))
