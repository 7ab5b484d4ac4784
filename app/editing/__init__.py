"""`gradmend lsp`: findings in an editor, as one types."""
