"""The public names of published loop guards over our engine, one module a system."""
