"""Parse the body of a call."""

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from games.engine.errors import InputError
from games.engine.json_input import LARGEST_TEXT, parse_json, verify_whole_characters


class StrictJSONParser(JSONParser):
    """Parse JSON as the contract defines it: UTF-8, no duplicate keys, no NaN, complete characters, bounded size."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            value = parse_json(stream.read(LARGEST_TEXT + 1))
            verify_whole_characters(value)
        except InputError as error:
            raise ParseError(str(error)) from None
        return value
