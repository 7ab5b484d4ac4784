"""The source as analyses see it: projects, trees, data flow, edits."""
