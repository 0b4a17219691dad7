"""Compound files, which old Office files and Outlook's mails are: streams and folders in one file of sectors."""

import struct

SECTOR, SMALL_SECTOR, SMALL = 512, 64, 4096
FREE, END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(tree):
    """The bytes of a compound file. `tree` is a dictionary: bytes are streams, dictionaries are folders."""
    entries = [{"name": "Root Entry", "kind": 5, "bytes": b"", "child": FREE}]
    entries[0]["child"] = add(entries, tree)
    small, small_table = bytearray(), []
    sectors, table = [], []

    def chain(table, count):
        first = len(table)
        table.extend([*range(first + 1, first + count), END])
        return first

    def store(content):
        """Puts a stream into sectors of its own."""
        if not content:
            return END
        padded = content + bytes(-len(content) % SECTOR)
        sectors.extend(padded[place:place + SECTOR] for place in range(0, len(padded), SECTOR))
        return chain(table, len(padded) // SECTOR)

    for entry in entries[1:]:
        content = entry["bytes"]
        entry["size"] = len(content)
        if entry["kind"] == 1 or not content:
            entry["start"] = 0 if entry["kind"] == 1 else END
        elif len(content) < SMALL:
            entry["start"] = chain(small_table, -(-len(content) // SMALL_SECTOR))
            small += content + bytes(-len(content) % SMALL_SECTOR)
        else:
            entry["start"] = store(content)
    entries[0]["start"], entries[0]["size"] = store(bytes(small)), len(small)
    small_start = store(b"".join(struct.pack("<I", place) for place in small_table) + b"\xff" * (-4 * len(small_table) % SECTOR))
    directory = b"".join(map(packed, entries))
    directory += packed({"name": "", "kind": 0, "child": FREE, "start": 0, "size": 0}) * (-len(entries) % 4)
    directory_start = store(directory)
    # The table of sectors counts its own, too.
    own = 1
    while (len(table) + own) * 4 > own * SECTOR:
        own += 1
    table_start = len(table)
    table += [TABLE] * own
    table += [FREE] * (-len(table) % (SECTOR // 4))
    sectors.append(struct.pack(f"<{len(table)}I", *table))
    places = [*range(table_start, table_start + own)]
    small_count = -(-len(small_table) * 4 // SECTOR)
    head = struct.pack(
        "<8s16s5H6s8I", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6, bytes(6), 0, own,
        directory_start, 0, SMALL, small_start if small_table else END, small_count, END)
    head += struct.pack("<I", 0) + struct.pack("<109I", *places, *[FREE] * (109 - own))
    return head + b"".join(sectors)


def add(entries, tree):
    """Adds what is in a folder and returns the root of its tree, in which the shorter name comes first."""
    numbers = []
    for name in sorted(tree, key=lambda name: (len(name), name.upper())):
        content = tree[name]
        is_folder = isinstance(content, dict)
        numbers.append(len(entries))
        entries.append({"name": name, "kind": 1 if is_folder else 2, "bytes": b"" if is_folder else content, "child": FREE})
        if is_folder:
            entries[numbers[-1]]["child"] = add(entries, content)

    def balanced(numbers):
        if not numbers:
            return FREE
        middle = len(numbers) // 2
        entry = entries[numbers[middle]]
        entry["left"], entry["right"] = balanced(numbers[:middle]), balanced(numbers[middle + 1:])
        return numbers[middle]

    return balanced(numbers)


def packed(entry):
    name = entry["name"].encode("utf-16-le")
    return struct.pack("<64sHBBIII16sIQQIQ", name, len(name) + 2 if name else 0, entry["kind"], 1,
                       entry.get("left", FREE), entry.get("right", FREE), entry["child"], bytes(16), 0, 0, 0,
                       entry["start"], entry["size"])
