from django.contrib import admin
from django.urls import include, path

from config.api import api
from config.reference import reference
from config.views import healthz
from memory.mcp.http import endpoint as mcp

urlpatterns = [
    path("", include("agents.urls")),
    path("", include("memory.urls")),
    path("", include("knowledge.urls")),
    path("settings/", include("agents.settings_urls")),
    path("api/v1/docs", reference, name="api-reference"),
    path("api/v1/", api.urls),
    path("v1/", include("memory.proxy.urls")),
    path("mcp", mcp, name="mcp"),
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
]
