"""What operators look at: metrics for Prometheus, a board for Grafana."""
