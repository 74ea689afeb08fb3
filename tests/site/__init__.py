"""The documents as a site: what its pages say, how they are linked, and how they look in a browser."""
