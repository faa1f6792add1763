"""Files of a form: what is over the limit is thrown away while it arrives, and named afterwards."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

# Files that one form may bring, as far as its size goes.
AT_ONCE = 10


class Limited(FileUploadHandler):
    """Stands before the handlers that keep files. Put it in before the form is looked at."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.most: int = settings.KNOWLEDGE_MAX_BYTES
        self.too_large: list[str] = []

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        if start + len(raw_data) > self.most:
            self.too_large.append(str(self.file_name))
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> Any:
        """The handlers behind this one answer with the file."""
        return None


def limit(request: HttpRequest) -> Limited:
    """Call it before anything reads the form, CSRF protection included."""
    handler = Limited(request)
    request.upload_handlers.insert(0, handler)
    return handler
