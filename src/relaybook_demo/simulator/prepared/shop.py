"""Responses of a small shop's support about parcels, refunds, vouchers and tea recommendations."""

from typing import Final

_REFUND: Final = (
    "The parcel of order {order} is back with us, and the refund went out yesterday: **€34.90** to the card you paid "
    "with. Banks take three to five working days to show it.",
    "I found it: the refund for order {order} was approved this morning, €34.90 in full. You will get an e-mail as "
    "soon as it has left our account.",
)
_BROKEN: Final = (
    "Oh no, I'm sorry about that! For order {order} I can offer you two things:\n\n"
    "1. a new part, sent today and free of charge, or\n"
    "2. your money back.\n\n"
    "Which one would you like?",
)

TOPICS: Final = (
    (r"search (?:query|terms?)|for our catalogue", ("herbal tea, caffeine-free, sleep, evening blend, chamomile",)),
    (
        r"refund to (?:a|my) (?:credit )?card|how long (?:does|will|do) (?:a|the|my)? ?refunds?",
        (
            "We send it on the day the parcel is back. After that it is up to the bank: three to five working days "
            "for most cards, up to ten for some.",
        ),
    ),
    (
        r"shipping (?:refunded|costs?|fee)",
        ("Yes. When a whole order goes back, we refund what you paid for shipping as well: €4.90 in your case.",),
    ),
    (r"\brefund\b.{0,60}\border (?P<order>\d{3,6})\b", _REFUND),
    (r"\border (?P<order>\d{3,6})\b.{0,60}\brefund\b", _REFUND),
    (r"\border (?P<order>\d{3,6})\b.{0,60}\b(?:broken|cracked|damaged)\b", _BROKEN),
    (
        r"rather have a new|a new lid",
        (
            "Gladly. A new lid is packed today and should be with you on Thursday. You don't need to do anything, and "
            "it costs you nothing.",
        ),
    ),
    (
        r"have to send .{0,20}\bback|send the broken",
        ("No, please keep it, or use it as a saucer. A photo would help us to find out what went wrong in packing.",),
    ),
    (
        r"where is my (?:parcel|order|package)|(?:parcel|package) .{0,40}\border (?P<order>\d{3,6})\b",
        (
            "It left our warehouse on Friday and has been at the depot in your town since this morning. The courier "
            "means to deliver it **today between 2 and 4 p.m.**",
        ),
    ),
    (
        r"neighbour is|second floor|ground floor",
        ("Noted. The courier has the name and the floor now; you will get a message as soon as it is handed over.",),
    ),
    (
        r"\bneighbours?\b|\bcourier\b",
        ("Yes, that is possible. Tell me the neighbour's name and floor, and I pass it on to the courier.",),
    ),
    (
        r"explain .{0,30}\bvoucher",
        (
            "“The voucher is for baskets of 25 euros or more, and yours is at 18 euros. Add tea for 7 euros and it "
            "works, or keep it: it is valid until the end of the year.”",
        ),
    ),
    (
        r"minimum order",
        (
            "The €31.50 include €4.90 for shipping, so the goods come to €26.60. I have lowered the minimum for your "
            "basket: please try the code once more.",
        ),
    ),
    (
        r"\b(?:voucher|coupon|promo)",
        (
            "The code itself is valid until Sunday. What does the checkout say when it refuses it? Most often the "
            "basket is below the minimum order, or a sale item is in it.",
        ),
    ),
    (
        r"like mint|without mint",
        (
            "Then I would go for **rooibos with vanilla**: soft, a little sweet, no caffeine at all. If you prefer "
            "something fresh, lemon verbena is lovely, too.",
        ),
    ),
    (
        r"no caffeine|caffeine.?free|without caffeine|for the evening",
        (
            "Three of ours are made for evenings:\n\n"
            "- **Night Garden**: chamomile, lavender, a little honeybush\n"
            "- **Moroccan mint**: fresh, good after a meal\n"
            "- **Rooibos vanilla**: soft and slightly sweet\n\n"
            "None of them has any caffeine.",
        ),
    ),
    (
        r"(?:long .{0,20}steep|steeping time)",
        ("Six to eight minutes in boiling water. Rooibos forgives you everything: it never turns bitter.",),
    ),
    (r"\blitre\b", ("Four heaped teaspoons, about 12 g. For a stronger cup take five, not more time.",)),
    (
        r"loose or|in bags|tea ?bags",
        ("Both. Loose in 100 g and 250 g, or 20 pyramid bags in a box. Loose is about a third cheaper per cup.",),
    ),
    (
        r"on invoice|by invoice",
        ("Yes, from your second order on. I have added 250 g to your basket; choose “invoice” at the checkout.",),
    ),
    (
        r"(?:gift|present) for",
        (
            "For someone who loves green tea I would put together:\n\n"
            "| what | price |\n|---|---|\n"
            "| Sencha from Kagoshima, 100 g | €16.50 |\n"
            "| Jasmine pearls, 50 g | €12.90 |\n"
            "| A small tin with a cherry pattern | €8.50 |\n"
            "| **together** | **€37.90** |",
        ),
    ),
    (
        r"for the card|on the card|birthday card",
        ("“For your quiet hour in the afternoon. I am thinking of you with every cup.”",),
    ),
    (r"\bwrap\b|add a card", ("Of course: wrapped in blue paper for €2.50, with a card. What should it say?",)),
    (
        r"address complete",
        ("Almost: the house number is missing. Street, postcode and town fit together.",),
    ),
    (
        r"the new one is|new address is",
        ("Thank you. The parcel goes to the new address, and I have updated your account as well.",),
    ),
    (
        r"\bI(?:'ve| have)? moved\b|change (?:the|my) address",
        ("Yes, it has not left yet. What is the new address?",),
    ),
    (
        r"opening hours|open on|when (?:are you|do you) open",
        ("The shop is open Monday to Saturday from 10 to 6:30. On the first Sunday of a month we pour tea at 2.",),
    ),
    (
        r"\bnuts\b|allerg",
        ("The chai and the almond blend contain nuts; all others are packed on a separate line without them.",),
    ),
    (
        r"on my account\?|money (?:be )?there",
        ("In three to five working days, depending on your bank. On Fridays it can slip to the Monday after.",),
    ),
    (
        r"^\W*(?:(?:great|perfect|lovely|wonderful|ok|okay|it works now|that helps)\W+)*(?:many )?(?:thanks|thank you)",
        (
            "You're welcome! Have a lovely day and enjoy the tea.",
            "With pleasure. I'm here if anything else comes up.",
        ),
    ),
    (
        r"refund|money back|return (?:the|my|an?|it)\b|cancel",
        (
            "I'm sorry the order didn't work out. You can return it within 30 days, and the refund reaches your "
            "account three to five working days after the parcel arrives. Shall I send you the return label?",
            "Of course. I have noted your refund request: the full amount goes back to the card you paid with, "
            "usually within five working days. You will get an e-mail as soon as it is on its way.",
        ),
    ),
)
