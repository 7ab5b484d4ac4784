from collections import defaultdict

import torch
from torch import nn


class Memory(nn.Module):
    """State of every depot, and the messages that wait to be worked into it."""

    def __init__(self, n_nodes, dim):
        super().__init__()
        self.n_nodes = n_nodes
        self.dim = dim
        self.reset()

    def reset(self):
        self.memory = torch.zeros(self.n_nodes, self.dim)
        self.last_update = torch.zeros(self.n_nodes)
        self.messages = defaultdict(list)

    def store_raw_messages(self, nodes, node_id_to_messages):
        for node in nodes:
            self.messages[node].extend(node_id_to_messages[node])

    def get_memory(self, idx):
        return self.memory[idx]

    def set_memory(self, idx, values):
        memory = self.memory.clone()
        memory[idx] = values
        self.memory = memory

    def clear_messages(self, nodes):
        for node in nodes:
            self.messages[node] = []

    def detach_memory(self):
        self.memory = self.memory.detach()
        for node, waiting in self.messages.items():
            self.messages[node] = [(message.detach(), t) for message, t in waiting]
