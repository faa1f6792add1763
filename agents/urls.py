from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from agents import views
from agents.password_forms import PasswordForm

urlpatterns = [
    path("sign-in/<str:token>", views.sign_in, name="sign-in"),
    path(
        "accounts/login/",
        LoginView.as_view(
            template_name="agents/login.html",
            authentication_form=PasswordForm,
            redirect_authenticated_user=True,
        ),
        name="login",
    ),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
]
