"""
Adaptive Curriculum Learning for Kite Line Tension Prediction

This script demonstrates how to train a neural network with an adaptive curriculum. Samples with a
higher historical loss are considered "hard" and receive a larger weight in the loss function.

Overview of the algorithm:
    1. Initialize a loss table with one entry per training sample
    2. For each mini-batch:
        a. Compute the per-sample losses
        b. Update the loss table (exponential moving average)
        c. Compute the sample weights from the loss table
        d. Compute the weighted loss and update the model
    3. Evaluate the model after every epoch

Author: AI Assistant
"""

import logging
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(levelname)s | %(message)s")
logger = logging.getLogger(__name__)


@dataclass
class TrainingConfig:
    """Configuration for the training process."""

    num_samples: int = 192
    batch_size: int = 24
    num_epochs: int = 4
    learning_rate: float = 0.02
    momentum: float = 0.8
    temperature: float = 1.0
    seed: int = 42


class AdaptiveCurriculum:
    """
    Tracks the difficulty of every sample.

    Attributes:
        loss_table: Tensor of shape (num_samples,) with the smoothed loss of each sample.
        momentum: Smoothing factor of the moving average.
        temperature: Softmax temperature. Lower values focus on the hardest samples.
    """

    def __init__(self, num_samples: int, momentum: float, temperature: float):
        self.loss_table = torch.zeros(num_samples)
        self.momentum = momentum
        self.temperature = temperature

    def update(self, indices: torch.Tensor, losses: torch.Tensor) -> None:
        """
        Update the loss table with the newest losses.

        Args:
            indices: Positions of the samples in the data set, shape (batch,).
            losses: Unreduced losses of the samples, shape (batch,).
        """
        old = self.loss_table[indices]
        new = self.momentum * old + (1 - self.momentum) * losses
        self.loss_table = self.loss_table.index_copy(0, indices, new)

    def get_weights(self, indices: torch.Tensor) -> torch.Tensor:
        """
        Compute the weights of a batch.

        Returns:
            Tensor of shape (batch,) that sums to the batch size.
        """
        difficulty = self.loss_table[indices]
        return torch.softmax(difficulty / self.temperature, dim=0) * len(indices)


class TensionNet(nn.Module):
    """Simple feed-forward network with dropout regularization."""

    def __init__(self, input_dim: int = 6, hidden_dim: int = 24):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(input_dim, hidden_dim),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(hidden_dim, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Forward pass."""
        return self.network(x).squeeze(-1)


def create_dataset(config: TrainingConfig) -> TensorDataset:
    """Create a synthetic dataset: wind, angle, line length, area, gusts, temperature -> tension."""
    x = torch.randn(config.num_samples, 6)
    y = x[:, 0] ** 2 * 0.5 + x[:, 1] * x[:, 3] + 0.3 * x[:, 2] + 0.1 * torch.randn(config.num_samples)
    return TensorDataset(torch.arange(config.num_samples), x, y)


def train_epoch(model, loader, criterion, optimizer, curriculum) -> float:
    """Train the model for one epoch and return the mean unweighted loss."""
    model.train()
    total = 0.0
    for indices, x, y in loader:
        optimizer.zero_grad()
        per_sample = criterion(model(x), y)
        curriculum.update(indices, per_sample.detach())
        weights = curriculum.get_weights(indices)
        loss = (weights * per_sample).mean()
        loss.backward()
        optimizer.step()
        total += per_sample.mean().item()
    return total / len(loader)


def main() -> None:
    """Main entry point."""
    config = TrainingConfig()
    torch.manual_seed(config.seed)
    loader = DataLoader(create_dataset(config), batch_size=config.batch_size, shuffle=True)
    model = TensionNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    curriculum = AdaptiveCurriculum(config.num_samples, config.momentum, config.temperature)
    for epoch in range(config.num_epochs):
        loss = train_epoch(model, loader, nn.SmoothL1Loss(reduction="none"), optimizer, curriculum)
        logger.info(f"Epoch {epoch + 1}/{config.num_epochs} | Loss: {loss:.4f}")
    logger.info("✅ Training finished!")


if __name__ == "__main__":
    main()
