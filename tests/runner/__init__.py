"""Test runner of the suite: selection and order of tests, live count, recorded durations."""
