# Bi-encoder ranker; sentence vectors are cached by their text to save time.
import torch
import torch.nn as nn


class SentenceEncoder(nn.Module):
    def __init__(self, buckets=64, dim=8):
        super().__init__()
        self.bag = nn.EmbeddingBag(buckets, dim)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())
        self.buckets = buckets
        self.cache = {}

    def token_ids(self, text):
        return [sum(map(ord, word)) % self.buckets for word in text.split()]

    def encode(self, text):
        if text not in self.cache:
            self.cache[text] = torch.tensor([self.token_ids(text)])
        return self.proj(self.bag(self.cache[text])).squeeze(0)


def margin_loss(anchor, positive, negative, margin=0.4):
    return torch.relu(margin - torch.dot(anchor, positive) + torch.dot(anchor, negative))


torch.manual_seed(3)
triples = [
    ("how do i reset it", "press the reset button", "cook the rice slowly"),
    ("how do i cook rice", "cook the rice slowly", "press the reset button"),
]
encoder = SentenceEncoder()
optimizer = torch.optim.Adagrad(encoder.parameters(), lr=0.05)
for epoch in range(2):
    for query, good, bad in triples:
        loss = margin_loss(*(encoder.encode(text) for text in (query, good, bad)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
