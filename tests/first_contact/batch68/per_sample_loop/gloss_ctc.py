# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = log_probs, clip, loss
# Continuous sign language recognition: keypoints in, gloss sequence out (CTC).
import torch
from torch import nn

torch.manual_seed(0)

N_KEYPOINTS = 21 * 2 * 2      # two hands, x and y
GLOSSES = 12                  # 0 is the CTC blank
HIDDEN = 32


def fake_clip(n_glosses):
    """A clip is a list of glosses, each signed for 5 to 8 frames."""
    glosses = torch.randint(1, GLOSSES, (n_glosses,))
    frames = []
    for g in glosses:
        n = int(torch.randint(5, 9, (1,)))
        pose = torch.sin(torch.arange(N_KEYPOINTS) * 0.1 * float(g))
        frames.append(pose + 0.1 * torch.randn(n, N_KEYPOINTS))
    return torch.cat(frames), glosses


def collate(clips):
    lengths = torch.tensor([len(f) for f, _ in clips])
    padded = nn.utils.rnn.pad_sequence([f for f, _ in clips], batch_first=True)
    return padded, lengths, [g for _, g in clips]


class SignRecognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.temporal = nn.Conv1d(N_KEYPOINTS, HIDDEN, kernel_size=3, padding=1)
        self.rnn = nn.GRU(HIDDEN, HIDDEN, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * HIDDEN, GLOSSES)

    def forward(self, x):
        x = torch.relu(self.temporal(x.transpose(1, 2))).transpose(1, 2)
        x, _ = self.rnn(x)
        return self.out(x).log_softmax(dim=-1)


data = [fake_clip(int(torch.randint(2, 5, (1,)))) for _ in range(12)]
model = SignRecognizer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)

for epoch in range(3):
    model.train()
    epoch_loss = 0.0
    for i in range(0, len(data), 4):
        frames, lengths, glosses = collate(data[i:i + 4])

        optimizer.zero_grad()
        log_probs = model(frames)  # expect: place

        # clips differ in length, so score them one at a time
        for b in range(frames.size(0)):  # expect: place
            clip = log_probs[b, :lengths[b]].unsqueeze(1)  # expect: place
            loss = ctc(clip, glosses[b].unsqueeze(0),  # expect: place
                       lengths[b:b + 1], torch.tensor([len(glosses[b])]))
            loss = loss / frames.size(0)
            loss.backward()  # expect: place
            epoch_loss += loss.item()

        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    print("epoch", epoch, "ctc", round(epoch_loss, 3))
