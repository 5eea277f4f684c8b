"""Responses to tasks at work: summaries, translations, tables, code and letters."""

from typing import Final

TOPICS: Final = (
    (
        r"\bclassify\b|which category",
        ("The teapot arrived with a broken lid; the customer asks for a replacement before Friday.",),
    ),
    (
        r"\btable\b|\bcompare\b",
        (
            "| tea | origin | taste | water | steep | 100 g |\n"
            "|---|---|---|---:|---:|---:|\n"
            "| Sencha | Kagoshima | grassy, fresh | 70 °C | 90 s | €16.50 |\n"
            "| Jasmine pearls | Fujian | flowery, soft | 80 °C | 2 min | €25.80 |\n"
            "| Gunpowder | Zhejiang | smoky, strong | 85 °C | 2 min | €8.90 |\n\n"
            "For beginners I would put the **jasmine pearls** first: they forgive hot water.",
        ),
    ),
    (
        r"steps of a return|how .{0,20}\breturns? work",
        (
            "1. **Ask for a label** in your account, under *Orders*.\n"
            "2. **Pack** the goods; any box will do.\n"
            "3. **Hand it in** at a post office within 14 days.\n"
            "4. **We check it** on the day it arrives.\n"
            "5. **The refund** goes to the card you paid with.\n\n"
            "Questions? Answer this mail; a person reads it.",
        ),
    ),
    (
        r"repl(?:y|ies) to (?:this|the) review",
        (
            "Thank you for the kind words about the tea! Nine days are far too long, though. The parcel had been "
            "sorted to the wrong depot; we have talked to the carrier, and your next delivery is on us.",
        ),
    ),
    (
        r"product (?:text|description)",
        (
            "**Night Garden** is the cup after the last mail of the day. Chamomile and lavender come first, honeybush "
            "keeps it round, and nothing in it will keep you awake.\n\n*100 g, loose · 8 minutes · no caffeine*",
        ),
    ),
    (
        r"summari[sz]e this contract",
        (
            "The supplier delivers 40 kg of tea a month from May on, for two years, at a fixed price. Either side may "
            "leave with three months' notice, and late deliveries cost the supplier two per cent a week.",
        ),
    ),
    (
        r"summari[sz]e this conversation",
        (
            "- **Customer**: teapot with a broken lid, order 4411, wants a new lid, no refund\n"
            "- **Done**: lid sent free of charge, arrives Thursday\n"
            "- **Open**: ask the warehouse about the packing",
        ),
    ),
    (
        r"summar|tl;?dr|key points|in short",
        (
            "In short:\n\n1. The team ships the new checkout on Thursday.\n2. Two open questions about taxes are with "
            "finance.\n3. Support gets a one-page guide before launch.",
            "Three points matter: costs fell by 12 %, mostly thanks to caching; answers got faster, with a median of "
            "0.8 seconds; and two customers still wait for their export.",
        ),
    ),
    (
        r"german\W+the contract begins in may",
        ("Der Vertrag beginnt im Mai.",),
    ),
    (
        r"(?:translat\w* |\bin(?:to)? )(?:\w+ ){0,3}german",
        ("„Der Zug fährt um halb neun ab.“ In Austria and southern Germany you would hear exactly the same.",),
    ),
    (
        r"(?:translat\w* |\bin(?:to)? )(?:\w+ ){0,3}spanish",
        ("«El tren sale a las ocho y media.» In Mexico you will also hear «sale a las 8:30».",),
    ),
    (
        r"translat|in (?:french|italian|japanese)",
        (
            "« Le train part à huit heures et demie. »\n\nA little more formal: « Le départ du train est prévu à "
            "8 h 30. »",
        ),
    ),
    (
        r"\bSQL\b",
        (
            "```sql\nSELECT t.name, SUM(l.quantity) AS sold\nFROM order_lines AS l\nJOIN teas AS t ON t.id = l.tea_id\n"
            "WHERE l.ordered_at >= date_trunc('month', now()) - interval '1 month'\n"
            "  AND l.ordered_at < date_trunc('month', now())\nGROUP BY t.name\nORDER BY sold DESC, t.name\nLIMIT 10;\n"
            "```\n\nAn index on `order_lines (ordered_at)` keeps it quick.",
        ),
    ),
    (
        r"KeyError",
        (
            "`prices['mint']` fails because the key is `'Mint'`, with a capital letter. Two ways out:\n\n"
            "```python\nprices.get(name.title(), 0)\n```\n\nor, better, write the keys in lower case when you read "
            "the file:\n\n```python\nprices = {name.lower(): price for name, price in rows}\n```",
        ),
    ),
    (
        r"into chunks",
        (
            "```python\nfrom collections.abc import Iterator\n\n\ndef chunks[T](items: list[T], size: int) -> "
            "Iterator[list[T]]:\n    for start in range(0, len(items), size):\n        yield items[start : start + "
            "size]\n```\n\nThe last one may be shorter. From Python 3.12 on there is also `itertools.batched`.",
        ),
    ),
    (
        r"regular expression .{0,20}dates?|regex .{0,20}dates?",
        (
            "```\n\\b(\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])\\b\n```\n\nIt finds `2026-11-21`, but also "
            "`2026-02-31`: whether a day exists is a question for a calendar, not for an expression.",
        ),
    ),
    (
        r"\bpython\b|\bfunction\b|\bcode\b|regex|\bSQL\b|\bbug\b",
        (
            "Here is a short version:\n\n```python\ndef first_words(text: str, count: int) -> str:\n"
            '    return " ".join(text.split()[:count])\n```\n\nIt keeps the order and copes with an empty text.',
            "The bug is the comparison: `==` between a string and a number is never true. Convert it first, "
            "`int(value) == limit`, and the test passes.",
        ),
    ),
    (
        r"e-?mail|letter|reply to|draft",
        (
            "Subject: Our meeting on Thursday\n\nDear Ms Okafor,\n\nthank you for your patience. Could we move our "
            "meeting to 3 p.m.? The agenda stays as it is.\n\nKind regards\nJonas",
        ),
    ),
)
