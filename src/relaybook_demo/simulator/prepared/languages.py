"""Responses in the language of the prompt. Some of these languages are written from right to left."""

from typing import Final

TOPICS: Final = (
    # Arabic
    (
        r"أين طلبي رقم (?P<order>\d+)",
        ("طلبك رقم {order} في الطريق إليك، وسيصل غدًا بين الساعة الثانية والرابعة بعد الظهر.",),
    ),
    (r"عنوان", ("نعم، ما دامت الشحنة لم تُسلَّم بعد. أرسل لي العنوان الجديد وسأغيّره فورًا.",)),
    (r"شكر", ("على الرحب والسعة! نتمنى لك يومًا سعيدًا مع كوب من الشاي 🍵",)),
    # Hebrew
    (r"מתי תגיע", ("שלום! ההזמנה יצאה מהמחסן שלנו ביום ראשון ותגיע אליך מחר, בין השעות 14:00 ל־16:00.",)),
    (r"תשלומים", ("כן, אפשר לשלם בשלושה תשלומים ללא ריבית בכל הזמנה מעל 150 ₪.",)),
    (r"תודה", ("בשמחה! שיהיה לך יום נעים.",)),
    # Chinese
    (
        r"退货\D*(?P<order>\d+)",
        ("您好！订单 {order} 可以在收到后 30 天内退货。我已把退货标签发到您的邮箱，请把包裹交给任意一家邮局。",),
    ),
    (r"退款要多久|退款.*多久", ("包裹寄回后当天退款，银行通常需要三到五个工作日到账。",)),
    (r"谢谢", ("不客气！祝您喝茶愉快。",)),
    (r"绿茶.*水温|水温", ("建议用 70 到 80 度的水，泡一分半到两分钟。水太烫，绿茶会发苦。",)),
    # Japanese
    (
        r"おすすめ",
        ("夕方でしたら、カフェインの入っていない**ルイボスティー**がおすすめです。ミルクにも合います。",),
    ),
    # German
    (
        r"paket .{0,40}bestellung (?P<order>\d+)",
        ("Das tut mir leid! Bestellung {order} liegt seit gestern im Verteilzentrum und kommt wohl morgen an.",),
    ),
    (r"im laden abholen|selbst abholen", ("Ja, gern: ab morgen 12 Uhr liegt es für Sie an der Kasse bereit.",)),
    (r"^\W*danke|vielen dank", ("Sehr gern! Einen schönen Tag noch.",)),
    # French
    (
        r"livrez-vous|livraison",
        ("Oui, nous livrons en Belgique et en France en trois jours ; la livraison est offerte à partir de 45 €.",),
    ),
    (r"^\W*merci", ("Avec plaisir ! Bonne journée.",)),
    # Spanish
    (
        r"sin cafeína|sin teína",
        ("Sí: rooibos, manzanilla y menta. Para la noche le recomiendo el **rooibos con vainilla**, suave y dulce.",),
    ),
    (r"^\W*gracias|muchas gracias", ("¡De nada! Que disfrute de su té.",)),
)

#: Responses for prompts in some non-Latin scripts. They are used if no other topic matches.
ANYTHING_ELSE: Final = (
    (r"[\u0600-\u06ff]", ("شكرًا لسؤالك. الجواب القصير: نعم. ابدأ بأبسط خطوة، ثم انظر ماذا تحتاج بعدها.",)),
    (r"[\u0590-\u05ff]", ("תודה על השאלה. התשובה הקצרה היא כן: כדאי להתחיל בצעד הקטן ביותר ולבדוק את התוצאה.",)),
    (r"[\u3040-\u30ff]", ("ご質問ありがとうございます。まずは一番小さな一歩から始めて、結果を確かめてみてください。",)),
    (r"[\u4e00-\u9fff]", ("好问题。简单地说：可以。先从最小的一步开始，看看结果，再决定下一步。",)),
    (r"[\u0400-\u04ff]", ("Хороший вопрос. Коротко: да. Начните с самого простого шага и посмотрите на результат.",)),
)
