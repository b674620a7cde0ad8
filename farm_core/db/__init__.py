"""The database: engine, units of work, migrations."""
