"""``python -m transkern``: the command line."""

from transkern.cli import main

if __name__ == "__main__":
    main()
