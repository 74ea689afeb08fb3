"""``python -m transkern``: the command line."""

from transkern.starting import main

if __name__ == "__main__":
    main()
