import json
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Print the API's OpenAPI description, as docs/openapi.json holds it."

    def handle(self, *args: Any, **options: Any) -> None:
        from config.api import api

        self.stdout.write(json.dumps(api.get_openapi_schema(), indent=1, sort_keys=True))
