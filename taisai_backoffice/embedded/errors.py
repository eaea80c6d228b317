"""What can go wrong with the local servers, as a sentence for the person at the keyboard."""


class EmbeddedServerError(Exception):
    """A local server could not be set up, started or stopped; the message says what to do."""
