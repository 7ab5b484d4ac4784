


"""Character-to-mel model with attention; an EMA copy is started after the warm-up."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class HParams:
    n_symbols = 20
    n_mels = 10
    enc_dim = 16
    dec_dim = 24
    batch_size = 4
    text_len = 7
    mel_len = 9
    total_steps = 8
    ema_start = 3
    ema_decay = 0.9
    guided_weight = 0.5
    lr = 2e-3


class Encoder(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.embed = nn.Embedding(hp.n_symbols, hp.enc_dim)
        self.conv = nn.Conv1d(hp.enc_dim, hp.enc_dim, 3, padding=1)

    def forward(self, text):
        x = self.embed(text)
        return x + torch.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)


class ContentAttention(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.query = nn.Linear(hp.dec_dim, hp.enc_dim)
        self.key = nn.Linear(hp.enc_dim, hp.enc_dim)
        self.last_alignment = None  # for the attention plots

    def forward(self, states, memory):
        scores = self.query(states) @ self.key(memory).transpose(1, 2)
        alignment = torch.softmax(scores / memory.size(-1) ** 0.5, dim=-1)
        self.last_alignment = alignment.detach()
        return alignment @ memory, alignment


class TTSModel(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.encoder = Encoder(hp)
        self.prenet = nn.Sequential(nn.Linear(hp.n_mels, hp.dec_dim), nn.ReLU())
        self.rnn = nn.GRU(hp.dec_dim, hp.dec_dim, batch_first=True)
        self.attention = ContentAttention(hp)
        self.project = nn.Linear(hp.dec_dim + hp.enc_dim, hp.n_mels)

    def forward(self, text, mel):
        memory = self.encoder(text)
        shifted = F.pad(mel, (0, 0, 1, 0))[:, :-1]
        states, _ = self.rnn(self.prenet(shifted))
        context, alignment = self.attention(states, memory)
        return self.project(torch.cat([states, context], dim=-1)), alignment


class GuidedAttentionLoss(nn.Module):
    def __init__(self, text_len, mel_len, sigma=0.3):
        super().__init__()
        t = torch.arange(mel_len)[:, None] / mel_len
        n = torch.arange(text_len)[None, :] / text_len
        self.register_buffer("penalty", 1 - torch.exp(-((t - n) ** 2) / (2 * sigma ** 2)))

    def forward(self, alignment):
        return (alignment * self.penalty).mean()


class AlignmentLogger:
    def __init__(self):
        self.sharpness = []

    def log(self, step, alignment):
        self.sharpness.append(alignment.max(dim=-1).values.mean().item())
        print(f"step {step}: attention sharpness {self.sharpness[-1]:.3f}")


@torch.no_grad()
def update_ema(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)


def main():
    torch.manual_seed(1234)
    hp = HParams()
    model, ema = TTSModel(hp), None
    guided, logger = GuidedAttentionLoss(hp.text_len, hp.mel_len), AlignmentLogger()
    optimizer = torch.optim.Adam(model.parameters(), lr=hp.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
    for step in range(hp.total_steps):
        text = torch.randint(hp.n_symbols, (hp.batch_size, hp.text_len))
        mel = torch.randn(hp.batch_size, hp.mel_len, hp.n_mels)
        predicted, alignment = model(text, mel)
        loss = F.l1_loss(predicted, mel) + hp.guided_weight * guided(alignment)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step == hp.ema_start:
            ema = copy.deepcopy(model)
        elif ema is not None:
            update_ema(ema, model, hp.ema_decay)
        logger.log(step, model.attention.last_alignment)
    torch.manual_seed(0)
    with torch.no_grad():
        sample, _ = ema(torch.randint(hp.n_symbols, (1, hp.text_len)), torch.zeros(1, hp.mel_len, hp.n_mels))
    print("ema sample energy", round(sample.pow(2).mean().item(), 4))


if __name__ == "__main__":
    main()
