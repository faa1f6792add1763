from django.urls import path

from agents import settings_views as views

urlpatterns = [
    path("", views.settings_page, name="settings"),
    path("preferences/", views.save_preferences, name="preferences"),
    path("keys/", views.make_key, name="key-new"),
    path("keys/<uuid:key_id>/revoke/", views.revoke_key, name="key-revoke"),
]
