"""What goes wrong when somebody signs in."""


class SignInFailed(Exception):
    """A sign-in cannot go on. The message continues "The server NAME ..." and has no secret."""


class GrantRejected(SignInFailed):
    """The authorization server no longer accepts a code or a refresh token."""


class ClientUnknown(GrantRejected):
    """The authorization server does not know our client, or no longer."""


class SignInUnavailable(SignInFailed):
    """The authorization server does not answer as it should. What is stored stays valid."""
