#!/usr/bin/env python
"""Every command of the back office: `python manage.py help` lists them."""

import os
import sys

INTERRUPTED = 130  # what a shell says of a program that was stopped by Ctrl-C


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taisai_backoffice.settings")
    os.environ.setdefault("LOG_LEVEL", "ERROR")  # a command says what is wrong in a sentence of its own
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from taisai_backoffice.embedded.errors import EmbeddedServerError

    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, EmbeddedServerError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
