


"""Case tagging for an agglutinative toy language: characters in, one tag per word.

Losses come out of a generator, sentence by sentence, so that the hardest ones can be reported.
"""
import heapq
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

SUFFIXES = {"NOM": "", "ACC": "ta", "GEN": "nin", "LOC": "lo", "ABL": "dan"}
TAGS = list(SUFFIXES)
LETTERS = " abdeiklmnorstu"
WORD_LEN = 9


def make_sentence(rng):
    words, tags = [], []
    for _ in range(rng.randint(3, 7)):
        stem = "".join(rng.choice("bdklmnrst") + rng.choice("aeiou") for _ in range(rng.randint(1, 3)))
        tag = rng.choice(TAGS)
        words.append((stem + SUFFIXES[tag])[-WORD_LEN:])
        tags.append(TAGS.index(tag))
    return words, tags


def encode(word):
    return torch.tensor([LETTERS.index(c) for c in word.rjust(WORD_LEN)])


def batches(corpus, size, rng):
    corpus = corpus[:]
    rng.shuffle(corpus)
    for i in range(0, len(corpus), size):
        part = corpus[i:i + size]
        chars = pad_sequence([torch.stack([encode(w) for w in words]) for words, _ in part], batch_first=True)
        gold = [torch.tensor(tags) for _, tags in part]
        yield part, chars, gold


class Tagger(nn.Module):
    def __init__(self, char_dim=10, word_dim=24):
        super().__init__()
        self.chars = nn.Embedding(len(LETTERS), char_dim)
        self.word = nn.Linear(WORD_LEN * char_dim, word_dim)
        self.context = nn.GRU(word_dim, word_dim // 2, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * word_dim, len(TAGS))

    def forward(self, chars):
        word = torch.tanh(self.word(self.chars(chars).flatten(2)))
        ctx, _ = self.context(word)
        return self.tag(torch.cat([word, ctx], dim=-1))


def sentence_losses(model, chars, gold):
    criterion = nn.CrossEntropyLoss()
    logits = model(chars)
    for row, tags in zip(logits, gold):
        yield criterion(row[: len(tags)], tags)


def train(model, corpus, epochs=5, size=16):
    rng = random.Random(4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        hardest, seen, total = [], 0, 0.0
        for part, chars, gold in batches(corpus, size, rng):
            optimizer.zero_grad()
            for (words, _), loss in zip(part, sentence_losses(model, chars, gold)):
                seen += 1
                total += loss.item()
                hardest.append((loss.item(), " ".join(words)))
            (loss / len(part)).backward()
            optimizer.step()
        worst = heapq.nlargest(1, hardest)[0]
        print("epoch %d  loss %.3f  hardest %.2f: %s" % (epoch, total / seen, worst[0], worst[1]))


if __name__ == "__main__":
    torch.manual_seed(2)
    generator = random.Random(3)
    train(Tagger(), [make_sentence(generator) for _ in range(96)])
