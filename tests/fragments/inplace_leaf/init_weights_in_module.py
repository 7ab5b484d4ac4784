# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = self.emb.weight
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
class EmbeddingLayer(nn.Module):
    def __init__(self, vocab_size, embed_dim):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, embed_dim)
        self.emb.weight.uniform_(-0.1, 0.1)  # expect: place

    def forward(self, idx):
        return self.emb(idx)


# paste: end
EmbeddingLayer(10, 8)
