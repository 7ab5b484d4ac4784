from typing import Dict

import numpy as np
import torch


class Memory:
    """One vector a junction, made when the junction is first met."""

    def __init__(self, memory_dimension: int):
        self.memory_dimension = memory_dimension
        self.init_memory()

    def init_memory(self):
        self.memory_container: Dict[int, torch.Tensor] = {}
        self.last_node_update: Dict[int, float] = {}

    def detach_tensor_grads(self):
        for node, node_memory in self.memory_container.items():
            self.memory_container[node] = node_memory.detach()

    def get_node_memory(self, node: int) -> torch.Tensor:
        if node not in self.memory_container:
            self.memory_container[node] = torch.zeros(self.memory_dimension)
            self.last_node_update[node] = 0.0
        return self.memory_container[node]

    def get_many(self, nodes: np.ndarray) -> torch.Tensor:
        return torch.stack([self.get_node_memory(int(n)) for n in nodes])

    def set_node_memory(self, node: int, value: torch.Tensor, timestamp: float):
        self.memory_container[node] = value  # expect: place
        self.last_node_update[node] = timestamp
