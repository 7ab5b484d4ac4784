# The source is encoded once; the decoder learns after every token.
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb, self.rnn = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True)

    def forward(self, src):
        return self.rnn(self.emb(src))[0]


class AttnDecoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb, self.out = nn.Embedding(vocab, dim), nn.Linear(2 * dim, vocab)

    def forward(self, token, memory):
        q = self.emb(token)
        weights = torch.softmax(torch.einsum("bd,bsd->bs", q, memory), dim=1)
        context = torch.einsum("bs,bsd->bd", weights, memory)
        return self.out(torch.cat([q, context], dim=1))


def train_batch(encoder, decoder, optimizer, src, tgt):
    memory = encoder(src)
    losses, total = [], 0.0
    for t in range(tgt.size(1) - 1):
        scores = decoder(tgt[:, t], memory)
        loss = nn.functional.cross_entropy(scores, tgt[:, t + 1])
        total = total + loss
        losses.append(loss.item())
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return sum(losses) / len(losses)


torch.manual_seed(0)
encoder, decoder = Encoder(11, 10), AttnDecoder(13, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
for i in range(2):
    print(i, train_batch(encoder, decoder, optimizer, torch.randint(0, 11, (4, 6)), torch.randint(0, 13, (4, 5))))
