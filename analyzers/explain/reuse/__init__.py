"""How a freed graph was used again, from the evidence mapped to the source."""
