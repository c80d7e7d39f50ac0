"""What everything speaks of: errors, events, frames, transcripts. No file, no network."""
