"""The whole farm on one machine: one process for each part, under one supervisor."""
