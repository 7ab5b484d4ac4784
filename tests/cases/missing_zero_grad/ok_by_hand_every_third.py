# expect: pattern = none
# expect: raises = nothing
# Three small batches for each update, which is written out by hand.
import torch

torch.manual_seed(4)
weight = torch.zeros(3, requires_grad=True)
for number in range(24):
    rows = torch.randn(8, 3)
    loss = (rows @ weight - rows.sum(1)).pow(2).mean() / 3
    loss.backward()
    if number % 3 == 2:
        with torch.no_grad():
            weight -= 0.1 * weight.grad
        weight.grad.data.zero_()
        print(number + 1, loss.item())
