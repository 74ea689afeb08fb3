"""From array statements to kernels: what is computed together, and which temporaries exist."""
