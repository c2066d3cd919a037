"""Where lookups are kept between runs."""
