"""Responses of an assistant for everyday life: poems, the weather, dinner, plans and a joke."""

from typing import Final

TOPICS: Final = (
    (
        r"haiku .{0,20}\brain\b",
        (
            "Rain on the tin roof,\nthe cat moves one chair closer\nto the humming stove.",
            "All the umbrellas\nopen at the same street light:\na garden in grey.",
        ),
    ),
    (
        r"haiku .{0,20}\btea\b",
        ("Steam above the cup\ncarries the whole afternoon\nout of the window.",),
    ),
    (
        r"poem .{0,30}\bsnow\b",
        (
            "It came without a single sound\nand put the street to bed;\nby six the cars had turned to hills,\nthe "
            "hedge had lost its head.\n\nThe baker swept a narrow path\nthat filled behind his broom,\nand every child "
            "on Mill Street stood\nawake in one bright room.",
        ),
    ),
    (
        r"haiku|poem|verse",
        (
            "A quiet relay\ncarries every word across;\nthe book remembers.",
            "Lights on the server\ncounting softly in the dark:\nmorning, all is well.",
        ),
    ),
    (
        r"picnic",
        (
            "**Saturday.** Friday still has showers, Sunday gets windy; Saturday stays dry with 22 °C and a light "
            "breeze. Take a blanket that does not mind damp grass.",
        ),
    ),
    (
        r"weather .{0,20}\bin (?P<city>(?-i:[A-Z]\w+))",
        (
            "{city} has a mild day: 19 °C by noon, a few high clouds, and no rain before the evening. A light jacket "
            "is enough.",
        ),
    ),
    (
        r"weather|forecast|\brain(?:s|ing|y)?\b|sunny|temperature outside",
        (
            "Mostly sunny today, with a light breeze from the west and highs around 21 °C. Some clouds move in "
            "towards the evening, but it stays dry. A thin jacket is enough.",
            "Expect showers until noon, then a slow clearing from the north. Around 14 °C, so take an umbrella for "
            "the way there and sunglasses for the way back.",
        ),
    ),
    (
        r"plan my week",
        (
            "Here is a week that leaves room for both deadlines:\n\n"
            "- **Monday**: outline both papers, one hour each; no meetings after 3 p.m.\n"
            "- **Tuesday**: write the first one while it is fresh\n"
            "- **Wednesday**: hand it to a colleague, begin the second\n"
            "- **Thursday**: work in the comments and send the first one off\n"
            "- **Friday**: finish the second by noon, then a walk\n\n"
            "Keep Wednesday evening free: something always takes longer.",
        ),
    ),
    (
        r"packing list|what (?:should|do) I pack",
        (
            "For a weekend, one small bag:\n\n"
            "- [ ] two T-shirts, one shirt, a light jumper\n"
            "- [ ] comfortable shoes (the hills!)\n"
            "- [ ] sunglasses and sun cream\n"
            "- [ ] charger and power bank\n"
            "- [ ] a book for the tram\n"
            "- [ ] a folded bag for what you bring home",
        ),
    ),
    (
        r"leeks?\b",
        (
            "**Leek and potato soup**, for two, 30 minutes:\n\n"
            "1. Cut one leek into rings, dice three potatoes.\n"
            "2. Soften the leek in butter for five minutes; do not let it brown.\n"
            "3. Add potatoes and 600 ml of stock, simmer for 15 minutes.\n"
            "4. Blend half of it, stir in a spoon of cream, pepper, nutmeg.\n\n"
            "Good with toasted rye bread.",
        ),
    ),
    (
        r"recipe|\bcook|dinner",
        (
            "Tomato soup for two: soften an onion in butter, add 400 g of tomatoes and a cup of stock, simmer for 15 "
            "minutes, blend, season, and finish with a spoon of cream.",
        ),
    ),
    (
        r"joke .{0,20}\b(?:tea|teapots?|kettles?)\b",
        ("Why did the teapot get the job? Because it never boils over, it only lets off steam.",),
    ),
    (r"\bjokes?\b|funny", ("Why did the log file go to therapy? It could not stop going back to the same lines.",)),
    (
        r"compound interest",
        (
            "Imagine a jar with 10 coins. Every year a friendly bank adds one coin for each ten in the jar. In the "
            "first year you get 1. But next year the new coin counts, too, so you get a bit more, and the year after "
            "a bit more again. Your coins have little coins, and those have little coins of their own. That is "
            "compound interest: being patient, and being paid for it.",
        ),
    ),
    (
        r"names? for (?:a|my|our) bakery",
        (
            "**Salt & Crumb**: short, and one smells the sea in it.",
            "**The Early Tide**: bread comes in when the water does.",
            "**Kneaded Ashore**: a pun, but one that people remember.",
        ),
    ),
    (
        r"(?:picture|photo|image)\b",
        (
            "A small drawing in flat colours: a **yellow sun** stands above a **blue sea**, and the sky behind it "
            "turns from light blue to orange. No people, no text.",
        ),
    ),
    (
        r"sky (?:is )?blue|blue sky",
        (
            "Sunlight is a mix of all colours. In the air the short waves, blue, are scattered much more than the "
            "long ones, red, so blue light reaches your eye from everywhere above you. At sunset the way through "
            "the air is so long that most of the blue is gone, and red is left.",
        ),
    ),
    (
        r"best trains?\b|train to",
        (
            "Two good choices:\n\n| leaves | arrives | changes | from |\n|---|---|---|---|\n| 08:31 | 12:47 | 0 | "
            "€29.90 |\n| 10:05 | 14:52 | 1 | €19.90 |\n\nThe earlier one is worth ten euros: you keep the afternoon.",
        ),
    ),
    (
        r"^\W*(?:hello|hi|hey|good (?:morning|evening)|ping)\b",
        ("Hello! What can I do for you today?", "Hi there! How can I help?"),
    ),
)
