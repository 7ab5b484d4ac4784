# Captions: one decoder call for the batch, then a loss and a backward for each caption.
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence


class Captioner(nn.Module):
    def __init__(self, vocab, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.image = nn.Linear(10, width)
        self.vocab = nn.Linear(width, vocab)

    def forward(self, image, words):
        state = torch.tanh(self.image(image)).unsqueeze(0)
        out, _ = self.rnn(self.embed(words), state)
        return self.vocab(out)


def batch(vocab, n=4):
    captions = [torch.randint(1, vocab, (length,)) for length in (5, 3, 6, 4)[:n]]
    return torch.randn(n, 10), captions


def main():
    torch.manual_seed(17)
    vocab = 20
    model = Captioner(vocab)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for step in range(3):
        images, captions = batch(vocab)
        padded = pad_sequence(captions, batch_first=True)
        logits = model(images, padded[:, :-1])
        optimizer.zero_grad()
        total = 0.0
        for row, caption in zip(logits.unbind(0), captions):
            length = len(caption) - 1
            loss = nn.functional.cross_entropy(row[:length], caption[1:])
            total = total + loss
        total.backward()
        optimizer.step()
        print(step, loss.item())


main()
