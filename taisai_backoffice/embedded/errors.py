"""Errors of the local servers, as a sentence for the person who runs them."""


class EmbeddedServerError(Exception):
    """A local server could not be set up, started or stopped; the message says what to do."""
