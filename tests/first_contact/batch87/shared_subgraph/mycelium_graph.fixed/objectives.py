"""What is asked of the encoded plate; each takes the model, its node vectors and the plate."""
import torch.nn.functional as F


def stored_phosphorus(model, nodes, plate):
    return F.mse_loss(model.stored(nodes), plate.stored)


def cord_flow(model, nodes, plate):
    return F.smooth_l1_loss(model.flow(nodes, plate.edges), plate.flow)


OBJECTIVES = {"stored": stored_phosphorus, "flow": cord_flow}
