"""The tricks in place of the standard way, each with what it saves. Nothing here knows a word of the domain."""
