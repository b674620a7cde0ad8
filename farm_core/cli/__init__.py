"""Commands that need only the farm's tables and settings."""
