# expect: pattern = shared-subgraph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = code
import torch
import torch.nn as nn

torch.manual_seed(8)
encoder = nn.Sequential(nn.Conv1d(1, 6, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(96, 8))
decoder = nn.Sequential(nn.Linear(8, 32), nn.Softplus(), nn.Linear(32, 16))
predictor = nn.Sequential(nn.Linear(8, 12), nn.Softplus(), nn.Linear(12, 2))

ae_optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
pred_optimizer = torch.optim.Adam(predictor.parameters(), lr=4e-3)
signals = torch.randn(32, 1, 16)
classes = (signals.sum((1, 2)) > 0).long()

for batch in torch.arange(32).split(8):
    x, y = signals[batch], classes[batch]
    code = encoder(x)  # expect: place
    recon_loss = nn.functional.mse_loss(decoder(code), x.squeeze(1))
    class_loss = nn.functional.cross_entropy(predictor(code), y)  # expect: place

    ae_optimizer.zero_grad()
    recon_loss.backward()  # expect: place
    ae_optimizer.step()

    pred_optimizer.zero_grad()
    class_loss.backward()  # expect: place
    pred_optimizer.step()
