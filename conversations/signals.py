"""What other apps may listen to. Receivers run inside the transaction of the write."""

from django.dispatch import Signal

# Messages were replaced, or the conversation took another branch.
# Sent with owner: User and message_ids: list[UUID].
branch_left = Signal()
