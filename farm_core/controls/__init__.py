"""What operators change while the farm works. Every function writes the audit log in the transaction of its change."""
