"""``python -m draftgate``."""

from draftgate.cli import main

if __name__ == "__main__":
    main()
