"""The operator *leaf*: parameters stay leaves, updated under `no_grad`."""
