"""What is left of a deleted document: keyed hashes of its original and of its address."""

import hmac
from hashlib import sha256

from django.conf import settings

from agents.models import User
from memory.models import Tombstone


def hash_of(said: str) -> str:
    """`said`: the SHA-256 of an original, or an address."""
    return hmac.new(settings.HASH_KEY.encode(), f"document {said}".encode(), sha256).hexdigest()


def stands(owner: User, said: str) -> bool:
    return Tombstone.objects.filter(owner=owner, digest=hash_of(said)).exists()
