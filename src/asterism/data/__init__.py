"""READ -> BLOCK: tables of every make become a ``Source`` of fixed logical blocks."""
