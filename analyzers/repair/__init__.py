"""Repairs searched along the path that a value was seen to take: sites, and operators on them."""
