"""Find the client's address behind a stated number of proxies (TRUSTED_PROXIES)."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

#: One household or office has one prefix, and all addresses in it.
IPV6_PREFIX = 64


def client_address(request: HttpRequest) -> str | None:
    """Return the client's address, or None if the server does not know it (a socket file).

    Without proxies it is the peer's. Each of n proxies adds the address it was called from at the right of
    `X-Forwarded-For`, so the n-th from the right is the only entry that a client cannot invent.
    """
    proxies: int = settings.TRUSTED_PROXIES
    peer = request.META.get("REMOTE_ADDR", "")
    if not proxies:
        return _address(peer)
    named = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    return _address(named[-proxies]) or _address(peer) if len(named) >= proxies else _address(peer)


def network_of(address: str | None) -> str:
    """Return the network counted as one place: an IPv4 address, or the /64 of an IPv6 address."""
    if address is None:
        return ""
    parsed = ipaddress.ip_address(address)
    if parsed.version == 4:  # noqa: PLR2004
        return str(parsed)
    return str(ipaddress.ip_network(f"{parsed}/{IPV6_PREFIX}", strict=False))


def _address(text: str) -> str | None:
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return str(mapped or parsed)
