cp "$ROOT/specs/systems/opal.yaml" mine.yaml
