"""
CS 4650 HW4, problem 2: unsupervised tagging.  An HMM with neural emissions, trained on
the marginal likelihood that the forward recursion gives.
"""
import random

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)
random.seed(1)

WORDS = {"DET": ["ta", "te"], "N": ["bru", "sel", "kam", "vot"], "V": ["rin", "dol", "sel"]}
VOCAB = {w: i for i, w in enumerate(sorted({w for ws in WORDS.values() for w in ws}))}


def make_sentence():
    tags = ["DET", "N", "V"] + (["DET", "N"] if random.random() < 0.6 else [])
    return [VOCAB[random.choice(WORDS[t])] for t in tags]


class NeuralHMM(nn.Module):
    def __init__(self, n_words, n_tags, dim=8):
        super().__init__()
        self.n_tags = n_tags
        self.start = nn.Parameter(torch.zeros(n_tags))
        # transitions[i, j] = score of going to i from j
        self.transitions = nn.Parameter(torch.randn(n_tags, n_tags) * 0.1)
        self.tag_emb = nn.Parameter(torch.randn(n_tags, dim))
        self.word_emb = nn.Linear(dim, n_words)

    def emissions(self):
        return torch.log_softmax(self.word_emb(self.tag_emb), dim=-1)

    def log_marginal(self, sentence):
        """log p(sentence), all tag sequences summed out"""
        emit = self.emissions()
        trans = torch.log_softmax(self.transitions, dim=0)
        forward_var = torch.log_softmax(self.start, dim=0) + emit[:, sentence[0]]
        for word in sentence[1:]:
            alphas = []
            for nxt in range(self.n_tags):
                alphas.append(torch.logsumexp(forward_var + trans[nxt], dim=0) + emit[nxt, word])
            # back to a vector of n_tags numbers
            forward_var = torch.stack(alphas)
        return torch.logsumexp(forward_var, dim=0)


def perplexity(model, sentences):
    with torch.no_grad():
        nll = -sum(model.log_marginal(s).item() for s in sentences)
    return torch.tensor(nll / sum(len(s) for s in sentences)).exp().item()


def main():
    train = [make_sentence() for _ in range(30)]
    dev = [make_sentence() for _ in range(10)]
    model = NeuralHMM(len(VOCAB), n_tags=3)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    print("before training: dev perplexity", perplexity(model, dev))
    for epoch in range(2):
        random.shuffle(train)
        for sentence in train:
            model.zero_grad()
            loss = -model.log_marginal(sentence)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "dev perplexity", perplexity(model, dev))


if __name__ == "__main__":
    main()
