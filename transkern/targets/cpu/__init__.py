"""C with OpenMP, built by the system's compiler into a module that Python imports."""
