"""Commands that need nothing but the farm's own tables and settings."""
