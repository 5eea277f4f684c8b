"""Define customer conversations with several turns. ``{order}`` is replaced with an order number."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The messages that one customer sends in one conversation.

    ``tool`` is the tool that is offered to the model. If ``person`` is `None`, any customer can send the messages.
    """

    turns: tuple[str, ...]
    feature: str = "support"
    model: str = "gpt-4o-mini"
    tool: str | None = None
    person: str | None = None


REFUND: Final = Conversation(
    turns=(
        "Hi! I sent back the blue teapot from order {order}. Where is my refund?",
        "How long does a refund to a credit card take?",
        "Was the shipping refunded as well?",
        "Great, thank you!",
    )
)
REFUND_LOOKED_UP: Final = Conversation(
    turns=(
        "Has the refund for order {order} been sent?",
        "When will it be on my account?",
        "Perfect, thanks!",
    ),
    model="gpt-4o",
    tool="get_refund",
)
TEA_FOR_THE_EVENING: Final = Conversation(
    turns=(
        "Which tea would you recommend for the evening? No caffeine, please.",
        "I don't like mint. Anything else?",
        "How long should rooibos steep?",
        "And how much of it for a 1-litre pot?",
        "Do you sell it loose or in bags?",
        "I'll take 250 g loose. Can I pay on invoice?",
    ),
    feature="search",
)
OUTDOOR_TASTING: Final = Conversation(
    turns=(
        "We plan an outdoor tea tasting. What is the weather in Rome?",
        "What about the weather in Lisbon instead?",
    ),
    model="gpt-4o",
    tool="get_weather",
)

ENGLISH: Final = (
    REFUND,
    TEA_FOR_THE_EVENING,
    REFUND_LOOKED_UP,
    OUTDOOR_TASTING,
    Conversation(
        turns=(
            "Where is my parcel? It should have been here on Monday, order {order}.",
            "Can the courier leave it with a neighbour?",
            "The neighbour is Mrs Lindqvist, second floor.",
            "Perfect, thanks!",
        )
    ),
    Conversation(
        turns=(
            "The teapot in order {order} arrived with a broken lid.",
            "I'd rather have a new lid than my money back.",
            "Do I have to send the broken lid back?",
            "That helps, thank you!",
        )
    ),
    Conversation(
        turns=(
            "I need a gift for my mother, who loves green tea. About 40 euros.",
            "Can you wrap it and add a card?",
            "Please write something short for the card.",
        ),
        feature="search",
    ),
    Conversation(
        turns=(
            "My voucher SPRING10 is refused at the checkout.",
            "It says the minimum order is 30 euros, but my basket is at 31.50.",
            "It works now, thanks!",
        ),
        feature="checkout",
    ),
    Conversation(
        turns=(
            "I moved last week. Can you change the address of order {order}?",
            "The new one is Lindenstraße 12, 10969 Berlin.",
        )
    ),
    Conversation(turns=("Does any of your teas contain nuts?", "Great. When are you open on Saturday?")),
)

OTHER_LANGUAGES: Final = (
    Conversation(
        turns=("أين طلبي رقم {order}؟", "هل يمكنني تغيير عنوان التوصيل؟", "شكرًا جزيلًا!"),
        model="gpt-4o",
        person="layla@example.com",
    ),
    Conversation(
        turns=("你好，我想退货，订单号是 {order}。", "退款要多久？", "好的，谢谢！"),
        model="gpt-4o",
        person="user-5c1e7f20",
    ),
    Conversation(
        turns=("שלום, מתי תגיע ההזמנה שלי?", "אפשר לשלם בתשלומים?", "תודה רבה!"),
        model="gpt-4o",
        person="d4a7c1e0-2b9f-4e63-8a55-7c90be14f2d8",
    ),
    Conversation(
        turns=(
            "Guten Tag, mein Paket mit der Bestellung {order} ist noch nicht da.",
            "Kann ich es auch im Laden abholen?",
            "Danke, das passt!",
        ),
        person="jürgen@example.com",
    ),
    Conversation(turns=("Bonjour, livrez-vous en Belgique ?", "Merci beaucoup !"), feature="checkout"),
    Conversation(turns=("¿Tienen té sin cafeína para la noche?", "¡Gracias!"), feature="search"),
    Conversation(turns=("夕方に飲むお茶のおすすめはありますか？",), feature="search", model="gpt-4o"),
)

#: All conversations. Most conversations are in English, so the other languages appear less often in the log.
ALL: Final = (*ENGLISH, *OTHER_LANGUAGES)
