"""`python -m gradmend`: the same as the command `gradmend`."""

from gradmend.command import main

if __name__ == "__main__":
    main()
