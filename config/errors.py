from django.core.exceptions import ImproperlyConfigured


class StartError(ImproperlyConfigured):
    """Why something can't start, in one line for the person who started it."""
