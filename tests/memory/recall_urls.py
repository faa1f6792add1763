"""The recall operation alone, under the API's own errors and keys."""

from django.urls import path
from ninja import NinjaAPI

from config import problems
from memory.api import router

api = NinjaAPI(urls_namespace="recall-alone", docs_url=None)
problems.install(api)
api.add_router("", router)

urlpatterns = [path("api/v1/", api.urls)]
