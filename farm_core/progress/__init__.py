"""Live progress of running jobs in Redis: written by render workers, read by the API, published to listeners."""
