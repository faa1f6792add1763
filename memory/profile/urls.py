from django.urls import path

from memory.profile import pages

urlpatterns = [path("profile/", pages.profile, name="profile")]
