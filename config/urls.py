from django.contrib import admin
from django.urls import include, path

from config.views import healthz

urlpatterns = [
    path("", include("agents.urls")),
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
]
