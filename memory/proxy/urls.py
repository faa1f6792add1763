from django.urls import path, re_path

from memory.proxy import views

app_name = "proxy"
urlpatterns = [
    path("chat/completions", views.chat_completions, name="chat"),
    path("models", views.models, name="models"),
    re_path(r"^.*$", views.elsewhere, name="elsewhere"),
]
