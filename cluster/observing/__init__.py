"""Files for operators: alert rules for Prometheus, a dashboard for Grafana."""
