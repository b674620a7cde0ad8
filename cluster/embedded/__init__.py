"""Servers that come in wheels and live in the data folder: Postgres and Valkey."""
