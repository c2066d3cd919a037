"""The commands, one module for each; `usage.table` names them."""
