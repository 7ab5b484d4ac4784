import torch

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

coefficients = torch.randn(4, requires_grad=True).double().to(device)
xs = torch.linspace(-1, 1, 50, dtype=torch.float64, device=device)
ys = 0.5 * xs ** 3 - xs + 0.25
powers = torch.stack([xs ** k for k in range(4)], dim=1)

for step in range(15):
    error = (powers @ coefficients - ys).pow(2).mean()
    error.backward()
    with torch.no_grad():
        if coefficients.grad is not None:
            coefficients -= 0.3 * coefficients.grad
print(coefficients.tolist(), error.item())
