"""What is known beside the bytes: expectations, hops, comparisons, client declarations."""
