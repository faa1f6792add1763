"""Django's PostgreSQL back end, which starts or joins the embedded server when first needed.

Not in settings, because type checkers and test runners import those and must start nothing.
"""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base

from config import embedded


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        if not self.settings_dict["HOST"]:
            server = embedded.join(settings.HOME, self.settings_dict["NAME"])
            self.settings_dict.update(HOST=server.host, PORT=server.port)
        params: dict[str, Any] = super().get_connection_params()
        return params
