"""Everything Ray and deployment: executor, render actor, devices, the local embedded farm."""
