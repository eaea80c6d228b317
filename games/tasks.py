"""What workers do for the game."""

from games.services.uploads import upload_take
from taisai_backoffice.celery import app


@app.task
def take_upload(key: int) -> None:
    """Take in a file that somebody uploaded."""
    upload_take(key=key)
