"""Evidence outside the bytes of a stream: expectations, hops, comparisons, client declarations."""
