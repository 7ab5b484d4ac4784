"""Linear-chain CRF on synthetic tags, with the forward table filled column by column."""
import torch
import torch.nn as nn

TAGS, WORDS = 4, 9


class CRFTagger(nn.Module):
    def __init__(self, dim=10):
        super(CRFTagger, self).__init__()
        self.embedding = nn.Embedding(WORDS, dim)
        self.lstm = nn.LSTM(dim, dim // 2, bidirectional=True, batch_first=True)
        self.hidden2tag = nn.Linear(dim, TAGS)
        self.transitions = nn.Parameter(0.1 * torch.randn(TAGS, TAGS))
        self.start = nn.Parameter(torch.zeros(TAGS))

    def emissions(self, words):
        return self.hidden2tag(self.lstm(self.embedding(words))[0])

    def log_partition(self, emit):
        batch, length, _ = emit.shape
        alpha = torch.zeros(batch, length, TAGS)
        alpha[:, 0] = self.start + emit[:, 0]
        for t in range(1, length):
            scores = alpha[:, t - 1].unsqueeze(2) + self.transitions
            alpha[:, t] = torch.logsumexp(scores, dim=1).mul(1.0) + emit[:, t]
        return torch.logsumexp(alpha[:, -1], dim=1)

    def score(self, emit, tags):
        s = self.start[tags[:, 0]] + emit[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, tags.size(1)):
            s = s + self.transitions[tags[:, t - 1], tags[:, t]]
            s = s + emit[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)
        return s

    def neg_log_likelihood(self, words, tags):
        emit = self.emissions(words)
        return (self.log_partition(emit) - self.score(emit, tags)).mean()


def sentences(n, length, gen):
    words = torch.randint(0, WORDS, (n, length), generator=gen)
    tags = (words + torch.roll(words, 1, dims=1)) % TAGS
    return words, tags


if __name__ == "__main__":
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    tagger = CRFTagger()
    optimizer = torch.optim.Adam(tagger.parameters(), lr=0.02)
    for step in range(8):
        words, tags = sentences(6, 7, gen)
        nll = tagger.neg_log_likelihood(words, tags)
        tagger.zero_grad()
        nll.backward()
        optimizer.step()
        if step % 2 == 0:
            print("step", step, "nll", round(nll.item(), 4))
