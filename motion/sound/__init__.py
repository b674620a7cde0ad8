"""The sound of a composition, pure: document -> voices -> samples. Files are decoded elsewhere (audio.md)."""
