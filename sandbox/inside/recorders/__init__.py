"""Records of what a run does: backward calls, optimizer steps, gradients, in-place changes."""
