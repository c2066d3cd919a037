"""What runs in clusters, as a report of `archfit audit` holds it, and how several of them become one."""
