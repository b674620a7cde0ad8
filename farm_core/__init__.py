"""Shared by all processes of the service: settings, tables, job states, storage, quotas, network, telemetry, CLI."""
