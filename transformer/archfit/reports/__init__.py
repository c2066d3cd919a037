"""What a run says: the summary on standard error, the report of --report and of `archfit last`."""
