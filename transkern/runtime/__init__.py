"""From a call to a specialisation: argument types, caches, arrays in and out."""
