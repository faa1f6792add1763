"""The two forms that take a password. They say so where too many were tried."""

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from agents import tries
from agents.wording import counted


class PasswordForm(AuthenticationForm):
    def get_invalid_login_error(self) -> ValidationError:
        seconds = tries.wait(self.cleaned_data["username"])
        if not seconds:
            return super().get_invalid_login_error()
        minutes = counted(-(-seconds // 60), "minute")
        return ValidationError(
            f"Too many passwords were tried for this name, so none is looked at for {minutes}. "
            "A sign-in link works at once.",
            code="too_many_tries",
        )


class AdminPasswordForm(PasswordForm, AdminAuthenticationForm):
    pass
