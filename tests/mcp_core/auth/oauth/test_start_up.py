"""The OAuth client is loaded with the first sign-in, not with a server."""

import subprocess
import sys

USERS = ("mcp_core.auth.identity", "mcp_atl.app", "toolcharter.govern.governor", "toolcharter.console.console")


def test_what_can_sign_in_starts_without_the_oauth_client():
    code = f"import sys, {', '.join(USERS)}; print([n for n in sys.modules if '.oauth' in n or n == 'httpx2'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
