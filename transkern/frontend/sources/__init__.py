"""Where functions come from: files read as text, live objects, and what their modules bind."""
