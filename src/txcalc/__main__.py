"""``python -m txcalc``."""

from txcalc.cli import main

if __name__ == "__main__":
    main()
