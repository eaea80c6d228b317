"""The web server's entry: granian runs it with blocking threads, so its processes use the connection pool."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taisai_backoffice.settings")
os.environ.setdefault("TAISAI_POOL", "1")

application = get_wsgi_application()
