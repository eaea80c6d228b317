"""What the commands say of a sign-in link that was made, or of a proposal that waits."""

from games.accounts.services.sign_in_links import IssuedLink
from games.models import AccountProposal


def account_text(done: IssuedLink | AccountProposal) -> str:
    if isinstance(done, AccountProposal):
        return f"Proposal no. {done.pk} waits for a second administrator, who confirms it on the site."
    until = f"{done.link.expires_at:%Y-%m-%d %H:%M} UTC"
    if done.sent_to:
        return f"A sign-in link, good until {until} for one use, was sent to {done.sent_to}."
    return f"Sign-in link, good until {until} for one use, shown this once:\n{done.address}"
