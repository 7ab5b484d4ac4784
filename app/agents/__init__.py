"""Gradmend for agents, by the Model Context Protocol: `gradmend mcp`, and `/mcp` of the service."""
