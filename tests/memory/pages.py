"""Looks at pages as the signed-in owner of a test client."""

from django.test import Client
from django.urls import reverse


def text(client: Client, name: str, *arguments: object, **query: str | int) -> str:
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200, response.status_code
    return response.content.decode()
