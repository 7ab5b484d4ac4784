"""Read cuneiform lines: one encoder over the columns, a CTC head and an attention decoder."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BLANK, SOS, SIGNS = 0, 11, 12          # 1..10 are signs


class Encoder(nn.Module):
    def __init__(self, height=8, dim=20):
        super().__init__()
        self.conv = nn.Conv1d(height, dim, 3, padding=1)
        self.gru = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.proj = nn.Linear(2 * dim, dim)

    def forward(self, line):
        x = F.relu(self.conv(line)).transpose(1, 2)
        x, _ = self.gru(x)
        return self.proj(x)


class AttentionDecoder(nn.Module):
    def __init__(self, dim=20):
        super().__init__()
        self.embed = nn.Embedding(SIGNS, dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.query = nn.Linear(dim, dim)
        self.out = nn.Linear(2 * dim, SIGNS)

    def forward(self, memory, signs):
        h = memory.new_zeros(memory.size(0), memory.size(2))
        ctx = memory.mean(1)
        last = torch.full((memory.size(0),), SOS, dtype=torch.long)
        logits = []
        for t in range(signs.size(1)):
            h = self.cell(torch.cat([self.embed(last), ctx], 1), h)
            weight = torch.softmax(torch.bmm(memory, self.query(h).unsqueeze(2)).squeeze(2), dim=1)
            ctx = torch.bmm(weight.unsqueeze(1), memory).squeeze(1)
            logits.append(self.out(torch.cat([h, ctx], 1)))
            last = signs[:, t]          # teacher forcing
        return torch.stack(logits, 1)


class TabletReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.ctc_head = nn.Linear(20, SIGNS)
        self.decoder = AttentionDecoder()

    def forward(self, line, signs):
        memory = self.encoder(line)
        return {
            "ctc": self.ctc_head(memory).log_softmax(-1),
            "attention": self.decoder(memory.detach(), signs),
        }


class JointLoss:
    def __init__(self, ctc_weight=0.3):
        self.ctc_weight = ctc_weight

    def __call__(self, out, signs):
        log_probs = out["ctc"].transpose(0, 1)
        n, t = log_probs.size(1), log_probs.size(0)
        ctc = F.ctc_loss(log_probs, signs, torch.full((n,), t), torch.full((n,), signs.size(1)), blank=BLANK)
        att = F.cross_entropy(out["attention"].flatten(0, 1), signs.flatten())
        return {"ctc": self.ctc_weight * ctc, "att": (1 - self.ctc_weight) * att}


def tablets(count, strokes):
    signs = torch.randint(1, 11, (count, 5))
    line = strokes[signs]                                   # count, 5, 8, 4
    line = line.permute(0, 2, 1, 3).reshape(count, 8, 20)
    return line + 0.2 * torch.randn_like(line), signs


def train(epochs=3):
    torch.manual_seed(77)
    strokes = torch.randn(SIGNS, 8, 4)
    reader, criterion = TabletReader(), JointLoss()
    optimizer = torch.optim.Adadelta(reader.parameters(), lr=0.5)
    for epoch in range(epochs):
        log = {"ctc": 0.0, "att": 0.0}
        for _ in range(4):
            line, signs = tablets(10, strokes)
            losses = criterion(reader(line, signs), signs)
            optimizer.zero_grad()
            for name, loss in losses.items():
                loss.backward()
                log[name] += loss.item()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 5.0)
            optimizer.step()
        print(epoch, {k: round(v / 4, 3) for k, v in log.items()})


if __name__ == "__main__":
    train()
