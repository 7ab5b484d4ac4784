"""What the model remembers of each patient between rounds."""
import torch
from torch import nn


class PatientNotes(nn.Module):
    """A slot a patient, handed out by id; a patient not seen before starts from a blank slot."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.slots = {}

    def blank(self):
        return torch.zeros(self.width)

    def read(self, patients):
        return torch.stack([self.slots.get(p, self.blank()) for p in patients])  # expect: place

    def write(self, patients, states):
        for p, state in zip(patients, states.unbind(0)):
            self.slots[p] = state  # expect: place

    def discharge(self, patient):
        self.slots.pop(patient, None)
