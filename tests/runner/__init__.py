"""Runner of the suite: selection and order of tests, a live count, recorded durations."""
