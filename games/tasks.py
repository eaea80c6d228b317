"""What workers do for the game."""

from games.access.services.access_reviews import reviews_open
from games.rounds.services.uploads import upload_take
from taisai_backoffice.celery import app


@app.task
def take_upload(key: int) -> None:
    """Import an uploaded file of rounds."""
    upload_take(key=key)


@app.task(ignore_result=True)
def open_access_reviews() -> None:
    """By the clock: this quarter's access review of every casino that has none yet."""
    reviews_open()
