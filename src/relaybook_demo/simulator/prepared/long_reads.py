"""Responses of several hundred words, for streams that are visible while they run."""

from typing import Final

_STORY: Final = """\
Once upon a time, on a rock so small that no map bothered with it, there stood a lighthouse with a keeper called Ida \
and a lamp that had never missed a night.

Ida had a routine. At four she made tea. At five she polished the glass. At six, when the sea turned from green to \
grey, she lit the lamp and counted the boats on their way home: eleven from the village, two from the far side of the \
bay, and on Fridays the ferry, lit up like a birthday cake.

One evening in November she counted eleven, two, the ferry, and then something that was not a boat at all. It was long \
and dark, it breathed, and it went round and round the rock.

“You are going the wrong way,” Ida called.

“I know,” said the whale. “I have been going the wrong way since Tuesday. I follow the stars, you see, but there are \
clouds, and the only star I can find is yours. It keeps bringing me back here.”

Ida thought about that while the lamp made three full turns. A lighthouse says *stay away*; nobody had ever told her \
what to say to somebody who wanted to leave.

“Where do you want to go?”

“South. My sister is there. She sings in the evenings, but with this wind I cannot hear her.”

So Ida did what no keeper had done before her. She climbed up to the lamp, took the red cloth that covered the spare \
glass, and hung it over the windows on the northern side, the eastern side and the western side. Now the light shone \
one way only: a long white road on the water, straight to the south.

“Follow it until it ends,” she called down. “By then you should hear her.”

The whale lay still for a moment, the way one does when a gift is a little too large. Then it drew a breath that \
misted every window of the tower, and went.

The light reached eleven miles. At the eleventh mile, very far away and very low, somebody was singing.

In the village they still talk about the night when the lighthouse looked only one way. The ferry was late, the \
captain was cross, and the harbour master wrote a letter with three exclamation marks. Ida put it in the drawer with \
the other letters, made her tea at four, and polished the glass at five.

And on clear evenings in November, after eleven boats, two boats and the ferry, she counts to one more. It comes up \
from the south, breathes twice, just to say that it knows the way now, and is gone again before the lamp comes round.

*The end. Sleep well.*"""

_GUIDE: Final = """\
# Brewing tea, from the kettle to the cup

Good tea needs four things to be right: **the leaf, the water, the heat and the time**. None of them is difficult, and \
all of them are forgiving once you know which way they err.

## 1. The leaf

Take about **3 g per cup of 250 ml**: a heaped teaspoon of a dense tea such as gunpowder, two of a light one such as \
white tea. Loose leaves want room. A basket that fills the pot is better than a small ball, because leaves swell to \
three times their size.

Keep tea dark, dry and away from spices. Green tea is at its best within a year, black tea within two; dark, aged teas \
are the exception and grow rounder with time.

## 2. The water

Fresh, cold water tastes best; water that has boiled several times is flat. If yours is hard, a filter makes more of a \
difference than a more expensive tea. You can see it: hard water leaves a film on black tea.

## 3. The heat and the time

| tea | water | time | again? |
|---|---:|---:|---|
| green, Japanese | 70 °C | 60–90 s | twice, shorter |
| green, Chinese | 80 °C | 2 min | three times |
| white | 80 °C | 3–4 min | twice |
| oolong | 90 °C | 2–3 min | five times |
| black | 100 °C | 3–4 min | no |
| rooibos, herbs | 100 °C | 6–8 min | no |

No thermometer? Let boiling water stand with the lid open: after three minutes it is near 90 °C, after six near 80 °C, \
after ten near 70 °C. Or pour it once from the kettle into a cold pot, which takes about ten degrees.

If a tea turns out **bitter**, the water was too hot or the leaves stayed in too long. If it is **thin**, take more \
leaf; more time only makes it bitter.

## 4. The pot

1. Warm the pot with a little hot water and pour it away.
2. Put in the leaves, then the water in one go, so that they move.
3. Close the lid and wait; do not stir green tea.
4. Pour *all* of it, down to the last drop. What stays on the leaves goes on brewing.

For iced tea use twice the leaf and half the water, brew as usual, and pour it over ice at once. Brewed in cold water \
overnight in the fridge it is milder: 10 g per litre, eight hours, any tea at all.

## 5. When it goes wrong

- *It tastes of nothing.* Old leaves, or too few of them.
- *It is cloudy.* Hard water, or black tea that cooled down slowly. It is harmless.
- *It keeps me awake.* Caffeine comes out first: pour away a first brew of 20 seconds, or take rooibos after four.

That is all. The rest is a warm cup, a window, and ten minutes in which nobody asks you anything."""

_LISBON: Final = """\
# Three days in Lisbon for two

Lisbon is a city of hills and late dinners, so each day climbs once, rests at noon, and ends by the water.

## Day 1: Alfama, slowly

- **09:00** Coffee and a *pastel de nata* at the counter; one stands here, one does not sit.
- **09:45** Walk up to the **Miradouro da Graça**. The view is the map: the castle on the left, the bridge behind it, \
the river everywhere.
- **11:00** Down through Alfama without a plan. If a street becomes a staircase, take it.
- **13:00** Lunch: grilled sardines if it is summer, *caldo verde* if it is not.
- **15:00** The **tile museum**, in a convent a little outside. Bus 794 stops in front of it.
- **18:30** Back by the river; ferry passengers are the best free theatre in town.
- **20:30** Dinner with *fado*. Book a small room, and do not talk during the songs.

## Day 2: Belém and the long shore

- **09:30** Tram 15E to **Belém**, early, before the queues.
- **10:00** The monastery of the Jerónimos: look at the cloister twice, once from below and once from the gallery.
- **12:00** The tower from outside is enough. The money is better spent on lunch.
- **13:00** A fish restaurant two streets behind the promenade, where the menu has no photographs.
- **15:00** **MAAT**, if only for its roof: a white wave that one may walk on.
- **17:30** LX Factory: books, bicycles, a slice of the chocolate cake everybody talks about. They are right.
- **20:00** Sunset from the ferry to Cacilhas, and dinner over there with the city as the picture.

## Day 3: out of town

- **08:40** Train from Rossio to **Sintra**, forty minutes; take the early one and sit on the right.
- **09:30** Pena palace first, before the buses. Walk down through the park instead of taking the shuttle.
- **12:30** Lunch in the village, then the gardens of **Regaleira** with their well that is a staircase.
- **16:00** Bus 1624 to **Cabo da Roca**, the western end of Europe. Wind is included.
- **19:30** Back in town: *ginjinha* from a window at Rossio, one each, and a late table in Campo de Ourique.

## What it costs, for both

| | € |
|---|---:|
| Trams, trains, ferries (one card each) | 48 |
| Tickets | 76 |
| Food and coffee, three days | 260 |
| Fado evening | 70 |
| **Together** | **454** |

Wear shoes with soles that grip: the stones are polished by a thousand years of people who were late for dinner."""

_PARCEL: Final = """\
A parcel from our shop in Hamburg to a customer in Lisbon travels about 2,700 kilometres in three days. This is what \
happens to it, so that support can answer “Where is it?” with more than a shrug.

**Day 1, 14:20. The shelf.** The order is printed in the warehouse. A picker walks 180 metres for the average order, \
scans each tea, and the system compares the weight with what it should be: 250 g of rooibos in a tin are 338 g. If the \
scale disagrees by more than 15 g, a lamp turns yellow and a person looks.

**Day 1, 16:05. The label.** The label carries three codes: ours, the carrier's and a routing code that says *Lisbon, \
northern depot, tour 41*. From here on the customer sees “handed over”, which means: it lies in a cage by the door.

**Day 1, 18:30. The lorry.** The carrier takes the cage to the hub. Every parcel runs over a belt at two metres a \
second and is photographed from five sides. One in four hundred cannot be read, mostly because of tape over the code, \
and goes round again by hand. That is the most common reason for a delay of one day.

**Day 2, 02:40. The flight.** Express goes by plane through Leipzig. Everything else goes by road: Hanover, Liège, \
Paris, Bordeaux, Burgos. The tracking shows nothing for about thirty hours then. It is not lost; there is simply no \
scanner on a motorway.

**Day 3, 05:15. The depot.** The parcel is scanned into the northern depot of Lisbon and sorted by tour. If it comes \
in after six it misses the tour and waits a day. Customers see “in delivery” only when the driver loads the van.

**Day 3, 13:00 to 17:00. The door.** The driver has about 110 stops. Nobody at home? There are three attempts: the \
neighbour, the parcel shop around the corner, and on the next working day once more. After that it is stored for seven \
days, and then it begins the same journey backwards.

**What you can tell a customer**

1. *No scan for less than 36 hours, on the road*: normal. Give the day it should arrive.
2. *No scan for more than 48 hours*: open a search with the carrier. It takes one working day.
3. *“Delivered”, but not there*: ask for neighbours first, then for the signature. Most of these are found within an \
hour.
4. *Damaged*: ask for one photo of the box and one of the tea. We replace it at once and talk to the carrier ourselves.

If you remember one thing, then this: the customer does not want to know where the parcel is. The customer wants to \
know whether it will be there on Saturday."""

TOPICS: Final = (
    (r"bedtime story|story about a lighthouse", (_STORY,)),
    (r"guide to brewing", (_GUIDE,)),
    (r"three days in lisbon", (_LISBON,)),
    (r"how a parcel travels|journey of a parcel", (_PARCEL,)),
)
