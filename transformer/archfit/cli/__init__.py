"""The command line: the table of commands, help, inputs and outputs, and the commands about archfit itself."""
