"""``python -m dreaming`` is the same as ``dreaming``."""

from dreaming.cli.main import main

if __name__ == "__main__":
    main()
