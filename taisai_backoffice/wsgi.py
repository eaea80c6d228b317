"""Django as a WSGI application with the connection pool; taisai_backoffice.server hands it to granian."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taisai_backoffice.settings")
os.environ.setdefault("TAISAI_POOL", "1")

application = get_wsgi_application()
