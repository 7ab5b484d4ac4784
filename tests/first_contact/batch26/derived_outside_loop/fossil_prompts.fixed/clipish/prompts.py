import torch
import torch.nn as nn


class PromptLearner(nn.Module):
    """Learnable context followed by the (fixed) tokens of the class name."""

    def __init__(self, names, token_embedding, n_ctx):
        super().__init__()
        dim = token_embedding.embedding_dim
        self.ctx = nn.Parameter(0.02 * torch.randn(n_ctx, dim))
        tokens = torch.tensor([[(ord(c) % 40) for c in name[:6].ljust(6)] for name in names])
        self.register_buffer("name_vectors", token_embedding(tokens).detach())

    def forward(self):
        ctx = self.ctx.unsqueeze(0).expand(self.name_vectors.size(0), -1, -1)
        return torch.cat([ctx, self.name_vectors], dim=1)
