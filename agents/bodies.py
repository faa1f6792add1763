"""What the API takes as the body of a request: JSON, and said to be."""

from django.http import HttpRequest
from ninja.parser import Parser
from ninja.types import DictStrAny

JSON = "application/json"


class WrongType(Exception):
    def __init__(self, wanted: str = JSON) -> None:
        super().__init__(f"Send the body as {wanted}, and say so in Content-Type.")


class JsonOnly(Parser):
    """Without a Content-Type the body is taken for what is wanted."""

    def parse_body(self, request: HttpRequest) -> DictStrAny:
        """Raises WrongType, ValueError."""
        kind = (request.content_type or "").lower()
        if (
            kind
            and kind != JSON
            and not (kind.startswith("application/") and kind.endswith("+json"))
        ):
            raise WrongType
        return super().parse_body(request)
