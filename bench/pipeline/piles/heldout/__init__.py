"""Templates that no rule was written on: they measure what recognition is worth on papers it has not seen."""

from . import meetings, money, people, prose

TYPES = {**money.TYPES, **people.TYPES, **prose.TYPES, **meetings.TYPES}
