"""Live progress of running jobs, in Redis. Render workers write it, the API reads it, and subscribers receive it."""
