"""Reading the body of a call."""

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from games.engine.errors import InputError
from games.engine.requests import LARGEST_TEXT, parse_json


class StrictJSONParser(JSONParser):
    """JSON as the contract wants it: UTF-8, no duplicate keys, no NaN, bounded."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return parse_json(stream.read(LARGEST_TEXT + 1))
        except InputError as error:
            raise ParseError(str(error)) from None
