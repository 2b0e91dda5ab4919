"""``python -m unworn`` is ``unworn``."""

from unworn.cli import main

if __name__ == "__main__":
    main()
