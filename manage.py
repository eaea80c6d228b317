#!/usr/bin/env python
"""Every command of the back office: `python manage.py help` lists them."""

import os
import sys


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


if __name__ == "__main__":
    main()
