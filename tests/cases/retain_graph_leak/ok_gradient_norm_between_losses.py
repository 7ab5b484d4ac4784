# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
encoder, recon_head, class_head = nn.Linear(10, 6), nn.Linear(6, 10), nn.Linear(6, 3)
modules = nn.ModuleList([encoder, recon_head, class_head])
opt = torch.optim.Adam(modules.parameters(), lr=1e-3)
for step in range(5):
    x, y = torch.randn(16, 10), torch.randint(0, 3, (16,))
    code = torch.tanh(encoder(x))
    recon = nn.functional.mse_loss(recon_head(code), x)
    classify = nn.functional.cross_entropy(class_head(code), y)

    opt.zero_grad()
    recon.backward(retain_graph=True)
    recon_norm = encoder.weight.grad.norm().item()
    classify.backward()
    opt.step()
    print(step, recon_norm, encoder.weight.grad.norm().item())
