"""Run the command line with ``python -m komb``."""

from komb.cli import main

if __name__ == "__main__":
    main()
