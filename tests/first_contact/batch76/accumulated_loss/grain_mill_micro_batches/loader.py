import torch
from torch.utils.data import DataLoader, TensorDataset


def get_loader(n=96, n_sensors=6, micro_batch=8):
    x = torch.randn(n, n_sensors)
    y = x[:, 0] * x[:, 1] - 0.5 * x[:, 2] + 0.1 * torch.randn(n)
    return DataLoader(TensorDataset(x, y), batch_size=micro_batch, shuffle=True)
