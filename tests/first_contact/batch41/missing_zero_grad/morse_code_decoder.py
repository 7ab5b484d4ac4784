# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = decoder_optimizer, decoder, encoder_optimizer
"""Seq2seq with attention: dots and dashes in, letters out."""
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

CODE = {"a": ".-", "d": "-..", "e": ".", "i": "..", "k": "-.-", "m": "--", "n": "-.", "o": "---", "r": ".-.",
        "s": "...", "t": "-", "u": "..-"}
LETTERS = sorted(CODE)
SYMBOLS = [".", "-", " "]
SOS, EOS = 0, 1
MAX_LENGTH = 24


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, input, hidden):
        return self.gru(self.embedding(input).view(1, 1, -1), hidden)

    def initHidden(self):
        return torch.zeros(1, 1, self.hidden_size)


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attn = nn.Linear(2 * hidden_size, MAX_LENGTH)
        self.attn_combine = nn.Linear(2 * hidden_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden, encoder_outputs):
        embedded = self.embedding(input).view(1, 1, -1)
        weights = F.softmax(self.attn(torch.cat((embedded[0], hidden[0]), 1)), dim=1)
        applied = torch.bmm(weights.unsqueeze(0), encoder_outputs.unsqueeze(0))
        output = F.relu(self.attn_combine(torch.cat((embedded[0], applied[0]), 1)).unsqueeze(0))
        output, hidden = self.gru(output, hidden)
        return F.log_softmax(self.out(output[0]), dim=1), hidden


def train(input_tensor, target_tensor, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    encoder_hidden = encoder.initHidden()

    encoder_optimizer.zero_grad()  # expect: place
    encoder_optimizer.zero_grad()  # expect: place

    encoder_outputs = []
    for symbol in input_tensor:
        encoder_output, encoder_hidden = encoder(symbol, encoder_hidden)
        encoder_outputs.append(encoder_output[0, 0])
    encoder_outputs = F.pad(torch.stack(encoder_outputs), (0, 0, 0, MAX_LENGTH - len(input_tensor)))

    loss = 0
    decoder_input = torch.tensor([[SOS]])
    decoder_hidden = encoder_hidden
    for letter in target_tensor:
        decoder_output, decoder_hidden = decoder(decoder_input, decoder_hidden, encoder_outputs)
        loss += criterion(decoder_output, letter.view(1))
        decoder_input = letter

    loss.backward()  # expect: place

    encoder_optimizer.step()
    decoder_optimizer.step()  # expect: place

    return loss.item() / len(target_tensor)


def tensors(word):
    code = " ".join(CODE[letter] for letter in word)
    return torch.tensor([SYMBOLS.index(s) for s in code]), torch.tensor([LETTERS.index(c) + 2 for c in word] + [EOS])


def trainIters(encoder, decoder, n_iters, print_every=10, learning_rate=0.02):
    start = time.time()
    print_loss_total = 0
    encoder_optimizer = torch.optim.SGD(encoder.parameters(), lr=learning_rate)
    decoder_optimizer = torch.optim.SGD(decoder.parameters(), lr=learning_rate)
    criterion = nn.NLLLoss()
    for iter in range(1, n_iters + 1):
        word = "".join(random.choice(LETTERS) for _ in range(random.randint(2, 4)))
        input_tensor, target_tensor = tensors(word)
        print_loss_total += train(input_tensor, target_tensor, encoder, decoder, encoder_optimizer, decoder_optimizer,
                                  criterion)
        if iter % print_every == 0:
            print("%ds (%d %d%%) %.4f" % (time.time() - start, iter, 100 * iter / n_iters, print_loss_total / print_every))
            print_loss_total = 0


if __name__ == "__main__":
    random.seed(2)
    torch.manual_seed(2)
    hidden_size = 24
    trainIters(EncoderRNN(len(SYMBOLS), hidden_size), AttnDecoderRNN(hidden_size, len(LETTERS) + 2), 30)
