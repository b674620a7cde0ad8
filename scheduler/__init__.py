"""Decides what runs where and when; durable; knows no Ray."""
