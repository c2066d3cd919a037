"""The commands, one module for each; `usage.command_table` names them."""
