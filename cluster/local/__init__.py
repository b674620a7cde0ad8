"""The whole farm on one machine, every part a process of its own under one supervisor."""
