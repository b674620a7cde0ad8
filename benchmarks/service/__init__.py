"""Farms, requests and attacks for benchmarks of the service, and how their processor time and statements are counted."""
