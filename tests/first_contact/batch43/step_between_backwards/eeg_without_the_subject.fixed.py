# -*- coding: utf-8 -*-
# Sleep stage from EEG epochs, features should not tell who is asleep (adversary guesses the subject)
import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument('--lamda', type=float, default=0.3)
parser.add_argument('--lr', type=float, default=1e-3)
parser.add_argument('--iters', type=int, default=20)
parser.add_argument('--seed', type=int, default=5)
opt = parser.parse_args()
torch.manual_seed(opt.seed)

N_STAGES, N_SUBJECTS, N_CHANNELS, N_SAMPLES = 4, 3, 2, 64


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(N_CHANNELS, 8, 7, stride=2), nn.ELU(),
            nn.Conv1d(8, 16, 5, stride=2), nn.ELU(),
        )
        self.fc = nn.Linear(16 * 13, 20)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def epochs(n):
    stage = torch.randint(N_STAGES, (n,))
    subject = torch.randint(N_SUBJECTS, (n,))
    t = torch.arange(N_SAMPLES) / N_SAMPLES * 6.2832
    wave = torch.sin((2.0 + 3.0 * stage)[:, None] * t + 6.28 * torch.rand(n, 1))
    gain = (1.0 + 0.4 * subject)[:, None, None]
    x = gain * wave[:, None, :].repeat(1, N_CHANNELS, 1) + 0.3 * torch.randn(n, N_CHANNELS, N_SAMPLES)
    return x, stage, subject


encoder = Encoder()
classifier = nn.Sequential(nn.ELU(), nn.Linear(20, N_STAGES))
adversary = nn.Sequential(nn.Linear(20, 16), nn.ELU(), nn.Linear(16, N_SUBJECTS))

optim_main = torch.optim.Adam(list(encoder.parameters()) + list(classifier.parameters()), lr=opt.lr)
optim_adv = torch.optim.Adam(adversary.parameters(), lr=opt.lr)
ce = nn.CrossEntropyLoss()

for it in range(opt.iters):
    x, stage, subject = epochs(24)
    feats = encoder(x)
    stage_logits = classifier(feats)
    subj_logits = adversary(feats)

    # ---- encoder + classifier: right stage, wrong subject
    cls_loss = ce(stage_logits, stage)
    adv_loss = ce(subj_logits, subject)
    optim_main.zero_grad()
    (cls_loss - opt.lamda * adv_loss).backward()
    optim_main.step()

    # ---- adversary: right subject
    optim_adv.zero_grad()
    adv_loss = ce(adversary(feats.detach()), subject)
    adv_loss.backward()
    optim_adv.step()

    if it % 5 == 0:
        acc = (stage_logits.argmax(1) == stage).float().mean().item()
        print('[%d/%d] cls %.4f adv %.4f acc %.2f' % (it, opt.iters, cls_loss.item(), adv_loss.item(), acc))
