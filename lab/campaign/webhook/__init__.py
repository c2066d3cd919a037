"""The webhook under fire: hostile tenants and other trouble beside tenants whose pods must be decided."""
