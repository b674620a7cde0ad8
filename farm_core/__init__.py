"""What the service's processes share: settings, tables, job machine, storage, quotas, net, telemetry, command line."""
