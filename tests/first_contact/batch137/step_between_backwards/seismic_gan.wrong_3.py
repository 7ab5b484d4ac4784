


"""Super-resolve seismic traces with an adversarial loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Upsampler(nn.Module):
    def __init__(self, factor=2, width=12):
        super().__init__()
        self.factor = factor
        self.body = nn.Sequential(
            nn.Conv1d(1, width, 5, padding=2),
            nn.LeakyReLU(0.2),
            nn.Conv1d(width, width, 5, padding=2),
            nn.LeakyReLU(0.2),
            nn.Conv1d(width, 1, 5, padding=2),
        )

    def forward(self, coarse):
        x = F.interpolate(coarse, scale_factor=self.factor, mode="linear", align_corners=False)
        return x + self.body(x)


class TraceCritic(nn.Module):
    def __init__(self, length, width=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, width, 5, stride=2, padding=2),
            nn.LeakyReLU(0.2),
            nn.Conv1d(width, width, 5, stride=2, padding=2),
            nn.LeakyReLU(0.2),
        )
        self.score = nn.Linear(width * length // 4, 1)

    def forward(self, trace):
        return self.score(self.features(trace).flatten(1))


def synthetic_traces(count, length):
    t = torch.linspace(0, 1, length)
    freq = 5 + 20 * torch.rand(count, 1)
    arrival = torch.rand(count, 1)
    wavelet = torch.exp(-60 * (t - arrival) ** 2) * torch.cos(6.28 * freq * (t - arrival))
    return (wavelet + 0.02 * torch.randn(count, length)).unsqueeze(1)


def adversarial(scores, real):
    target = torch.ones_like(scores) if real else torch.zeros_like(scores)
    return F.binary_cross_entropy_with_logits(scores, target)


def train_step(generator, critic, opt_g, opt_d, coarse, fine):
    fake = generator(coarse)

    # losses
    score_fake = critic(fake)
    adv_loss = adversarial(score_fake, True)
    loss_g = F.l1_loss(fake, fine) + 0.5 * adv_loss
    loss_d = 0.5 * (adversarial(critic(fine), True) + adversarial(critic(fake.detach()), False))

    # update the critic
    opt_d.zero_grad()
    loss_d.backward()

    # update the generator
    opt_g.zero_grad()
    loss_g.backward()
    opt_d.step()
    opt_g.step()
    return loss_g.item(), loss_d.item()


def main():
    torch.manual_seed(11)
    length = 64
    traces = synthetic_traces(48, length)
    generator, critic = Upsampler(), TraceCritic(length)
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))
    for epoch in range(3):
        for fine in traces.split(16):
            coarse = F.avg_pool1d(fine, 2)
            g, d = train_step(generator, critic, opt_g, opt_d, coarse, fine)
        print(f"epoch {epoch}: generator {g:.4f} critic {d:.4f}")


if __name__ == "__main__":
    main()
