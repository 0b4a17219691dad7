"""Templates that rules are written on."""

from . import meetings, money, people, prose

TYPES = {**money.TYPES, **people.TYPES, **prose.TYPES, **meetings.TYPES}
