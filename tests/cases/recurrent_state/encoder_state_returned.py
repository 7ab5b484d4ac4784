# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = encoder_hidden, hidden
# Sentence pairs; train_pair gives the encoder's last state back to the caller.
import random

import torch
from torch import nn, optim

SOS, EOS = 0, 1


class EncoderRNN(nn.Module):
    def __init__(self, n_words, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(n_words, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, word, hidden):
        embedded = self.embedding(word).view(1, 1, -1)
        return self.gru(embedded, hidden)

    def init_hidden(self):
        return torch.zeros(1, 1, self.hidden_size)


class DecoderRNN(nn.Module):
    def __init__(self, n_words, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(n_words, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, n_words)

    def forward(self, word, hidden):
        output, hidden = self.gru(torch.relu(self.embedding(word).view(1, 1, -1)), hidden)
        return self.out(output[0]), hidden


def train_pair(source, target, encoder_hidden, nets, optimizers, criterion):
    encoder, decoder = nets
    for opt in optimizers:
        opt.zero_grad()
    for word in source:
        _, encoder_hidden = encoder(word, encoder_hidden)  # expect: place
    loss = 0
    word, decoder_hidden = torch.tensor([SOS]), encoder_hidden
    forced = random.random() < 0.5
    for wanted in target:
        scores, decoder_hidden = decoder(word, decoder_hidden)
        loss = loss + criterion(scores, wanted.view(1))
        word = wanted if forced else scores.argmax(1)
        if word.item() == EOS:
            break
    loss.backward()  # expect: place
    for opt in optimizers:
        opt.step()
    return loss.item() / len(target), encoder_hidden


def train_iters(n_iters=4, lr=0.05):
    encoder, decoder = EncoderRNN(12, 10), DecoderRNN(12, 10)
    optimizers = [optim.SGD(net.parameters(), lr=lr) for net in (encoder, decoder)]
    hidden = encoder.init_hidden()
    for i in range(n_iters):
        source = torch.randint(2, 12, (random.randint(3, 5), 1))
        target = torch.cat([torch.randint(2, 12, (3,)), torch.tensor([EOS])])
        loss, hidden = train_pair(  # expect: place
            source, target, hidden, (encoder, decoder), optimizers, nn.CrossEntropyLoss()
        )
        print(f"{i + 1}/{n_iters} {loss:.3f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    random.seed(5)
    train_iters()
