"""What the command line takes: the table of commands, and help, completion, man page and lists made from it."""
