"""Who may reach the app; it contacts nobody outside."""

import ipaddress
import socket
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import psutil

OWN_NAMES: Final = ("localhost", "127.0.0.1", "::1")
"""Host names of an app that listens on this machine only; the same list is in `.streamlit/config.toml`."""


def allowed_hosts(address: str, further: list[str]) -> list[str]:
    """Host names under which a browser may reach the app; other names are refused (DNS rebinding).

    Args:
        address: on which the app listens; a wildcard means every address of this machine.
        further: names from the user, for example of the web server in front.
    """
    names = [*OWN_NAMES]
    if _is_wildcard(address):
        addresses = [entry for entries in psutil.net_if_addrs().values() for entry in entries]
        names += [entry.address.partition("%")[0] for entry in addresses if entry.family in _INTERNET]
    else:
        names.append(address)
    if not set(names) <= set(OWN_NAMES):
        names.append(socket.gethostname())
    return list(dict.fromkeys(name.lower() for name in [*names, *further]))


def addresses_for_others(hosts: Iterable[str], port: int, opened: str | None) -> list[str]:
    """Where others open the app: at the address of this visitor, or, for a visitor on this computer, at any allowed
    host; nowhere if no other computer reaches it.

    Args:
        hosts: as of `allowed_hosts`.
        opened: the address of this visitor's page.

    >>> addresses_for_others(["localhost", "192.0.2.7", "fe80::1"], 8501, "http://localhost:8501/learn")
    ['http://192.0.2.7:8501']
    >>> addresses_for_others(["localhost", "192.0.2.7", "recap.example"], 8501, "https://recap.example/learn")
    ['https://recap.example']
    """
    others = [host for host in hosts if host not in OWN_NAMES and not _stays_near(host)]
    page = urlsplit(opened or "")
    if others and page.hostname and page.hostname not in OWN_NAMES:
        return [f"{page.scheme}://{page.netloc}"]
    return [f"http://{f'[{host}]' if ':' in host else host}:{port}" for host in others]


def _stays_near(host: str) -> bool:
    """Whether it is an address that leads back to this computer, or no further than its cable."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_link_local


_INTERNET: Final = (socket.AF_INET, socket.AF_INET6)


def _is_wildcard(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:  # a host name
        return False
