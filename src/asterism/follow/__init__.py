"""Tables of tomorrow beside models of yesterday: has the table drifted, and which groups are still there."""
