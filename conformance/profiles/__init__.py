"""How real systems speak a dialect: knobs with evidence, fingerprints, markers."""
