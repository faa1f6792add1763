"""A sign of life from the processes that nobody sees."""

from django.db import models


class Heartbeat(models.Model):
    """When beat last reached a worker, and with what that works. A row per host; of the server, not
    of an owner."""

    host = models.CharField(primary_key=True, max_length=120)
    at = models.DateTimeField()
    # The label under which it writes vectors.
    embedding_model = models.CharField(max_length=120)

    def __str__(self) -> str:
        return f"heartbeat of {self.host}"
