"""What would become of functions that nobody calls: `transkern check`. Their files are read, and never run."""
