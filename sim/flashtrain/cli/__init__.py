"""The `flashtrain` command: one module per sub-command, `main` puts them together."""
