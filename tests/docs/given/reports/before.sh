ln -s "$ROOT/cassettes" cassettes
