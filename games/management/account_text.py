"""The command output for a new sign-in link, or for a proposal that waits for confirmation."""

from games.accounts.services.sign_in_links import IssuedLink
from games.models import AccountProposal


def account_text(done: IssuedLink | AccountProposal) -> str:
    if isinstance(done, AccountProposal):
        return f"Proposal no. {done.pk} waits for a second administrator to confirm it on the site."
    until = f"{done.link.expires_at:%Y-%m-%d %H:%M} UTC"
    if done.sent_to:
        return f"A sign-in link, valid until {until} for one use, was sent to {done.sent_to}."
    return f"Sign-in link, valid until {until} for one use, shown this once:\n{done.address}"
