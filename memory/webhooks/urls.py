from django.urls import path

from memory.pages import webhooks as pages

ONE = "webhooks/<uuid:webhook_id>/"

urlpatterns = [
    path("webhooks/", pages.webhooks, name="webhooks"),
    path(ONE, pages.webhook, name="webhook"),
    path(f"{ONE}switch/", pages.switch, name="webhook-switch"),
    path(f"{ONE}secret/", pages.renew, name="webhook-secret"),
    path(f"{ONE}remove/", pages.remove, name="webhook-remove"),
    path(f"{ONE}test/", pages.ping, name="webhook-test"),
    path(
        "webhooks/deliveries/<uuid:delivery_id>/send/", pages.send_again, name="webhook-send-again"
    ),
]
