"""Set-up of a checkout (`./farm`) and of the installed command `farm`."""
