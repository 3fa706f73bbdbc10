"""The command line: click commands, one file each, imported when they are asked for."""
