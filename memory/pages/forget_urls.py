from django.urls import path

from memory.pages import forget

urlpatterns = [
    path("forget/", forget.forget, name="forget"),
    path("facts/<uuid:fact_id>/purge/", forget.purge_fact, name="fact-purge"),
    path(
        "conversations/<uuid:conversation_id>/forget/",
        forget.forget_conversation,
        name="conversation-forget",
    ),
    path("forget/requests/<uuid:request_id>/accept/", forget.accept, name="forget-accept"),
    path("forget/requests/<uuid:request_id>/decline/", forget.decline, name="forget-decline"),
]
