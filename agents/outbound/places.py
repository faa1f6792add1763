"""Where a request may go: which addresses of the web, and which machines behind them.

A name is looked up once, and the connection goes to what was found and checked, so that a name
server that answers differently the second time (DNS rebinding) gains nothing.
"""

import socket
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    import httpx2

Machine = IPv4Address | IPv6Address
PORTS = {"http": 80, "https": 443}
FIRST_FREE_PORT = 1024
LONGEST = 2000
# The special-purpose registries of IANA, which the standard library of older Pythons knows in part.
# 168.63.129.16 is where one hoster's machines ask for their own credentials.
NOT_PUBLIC = [
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
]
# All that is public of IPv6 lies in here.
GLOBAL_UNICAST = IPv6Network("2000::/3")
# They carry an IPv4 address in their last 32 bits, which a gateway or the system takes out.
CARRIES_IPV4 = [IPv6Network(network) for network in ("::ffff:0:0/96", "::/96", "64:ff9b::/96")]


class Refused(Exception):
    """The message is for people: what is wrong, without what the other server said."""


class Unreachable(Refused):
    """As things are now: another try may do."""


def check(address: str) -> "httpx2.URL":
    """The address as it would be asked. Looks nothing up. Raises Refused."""
    import httpx2

    if len(address) > LONGEST:
        raise Refused(f"The address is longer than {LONGEST:,} characters.")
    try:
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        raise Refused("That isn't an address of the web, such as https://example.org/.") from None
    if url.scheme not in PORTS:
        raise Refused("An address begins with https:// or http://.")
    if not url.host:
        raise Refused("The address names no server.")
    if url.userinfo:
        raise Refused("An address may hold no user name or password.")
    if not (0 < port_of(url) < 65536):
        raise Refused("A port is a number from 1 to 65535.")
    if port_of(url) < FIRST_FREE_PORT and port_of(url) not in PORTS.values():
        raise Refused("Of the ports under 1024 only 80 and 443 may be asked.")
    return url.copy_with(fragment=None)


def port_of(url: "httpx2.URL") -> int:
    return PORTS[url.scheme] if url.port is None else url.port


def machines(host: str, port: int) -> list[Machine]:
    """What the name stands for now, however it is spelled. One that may not be asked rules out all
    of it. Raises Refused."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable("No server of that name is known.") from None
    answers = list(dict.fromkeys(_plain(str(entry[4][0])) for entry in found))
    if not all(is_allowed(answer) for answer in answers):
        raise Refused(
            "That server stands on this machine or in a private network, which isn't asked."
            " The operator can allow a network (OUTBOUND_NETWORKS)."
        )
    return answers


def _plain(text: str) -> Machine:
    """A mapped IPv4 address as the one that the system would connect to."""
    machine = ip_address(text)
    return getattr(machine, "ipv4_mapped", None) or machine


def is_allowed(machine: Machine) -> bool:
    meant = _meant(machine)
    return _is_opened(machine) or _is_public(meant) or _is_opened(meant)


def _meant(machine: Machine) -> Machine:
    if isinstance(machine, IPv6Address) and any(machine in carrier for carrier in CARRIES_IPV4):
        return IPv4Address(int(machine) & 0xFFFFFFFF)
    return machine


def _is_public(machine: Machine) -> bool:
    if isinstance(machine, IPv6Address) and machine not in GLOBAL_UNICAST:
        return False
    return not any(machine in network for network in NOT_PUBLIC)


def _is_opened(machine: Machine) -> bool:
    opened: list[IPv4Network | IPv6Network] = settings.OUTBOUND_NETWORKS
    return any(machine in network for network in opened)


def look(address: str) -> None:
    """Whether it could be asked at this moment, for whoever types it in. Raises Refused."""
    url = check(address)
    machines(url.raw_host.decode("ascii"), port_of(url))
