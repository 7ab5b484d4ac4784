# In[1]:
import numpy as np
import torch

# In[2]:
torch.manual_seed(11)
positions = torch.randn(5, 2, requires_grad=True)
bonds = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4]])

# In[3]:
def bond_energy(pos):
    a, b = pos[bonds[:, 0]], pos[bonds[:, 1]]
    return ((a - b).norm(dim=1) - 1.0).pow(2).sum()


# In[4]:
energy = bond_energy(positions)
energy

# In[5]:
energy.backward(retain_graph=True)
with torch.no_grad():
    positions -= 0.1 * positions.grad
positions.grad = None

# In[6]:
energy.backward()
with torch.no_grad():
    positions -= 0.1 * positions.grad
positions.grad = None
print(np.round(positions.detach().numpy(), 3))
