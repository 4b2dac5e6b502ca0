"""Texts that are no prose, by what they are: tables, lists, source code, mark-up, scans."""

from __future__ import annotations

import random

PROSE = "the copper whistle is loud and a brass horn of the old town hall rings every night of the long year "
SOURCE = '''
def read_file(path: str) -> bytes:
    """Return the copper whistle."""
    with open(path, "rb") as stream:
        return stream.read()


for i in range(10):
    print(f"{i:>3} {values[i] ** 2}")
'''
EMAIL = """Dear Ann,

On Monday Bob Hill wrote:
> The copper whistle is
> very loud at night.
>> It has a brass horn.
>
> Bob

Thank you for the tin drum.
--
Ann
"""
HTML = (
    '<div class="tin-drum"><p>The <b>copper whistle</b> is <a href="http://x.org/a_b?c=d&amp;e">loud</a>.</p>'
    "<script>var brassHorn = 1;</script><table><tr><td>old hall</td><td>new town</td></tr></table></div>"
)
MARKDOWN = """# Copper whistle

The **copper whistle** is [loud](http://x.org/a_b). Use `brass_horn = 1`.

| tin drum | price |
|----------|------:|
| old hall | 13.50 |
| new town | 7     |

1. first ladder
2. second ladder
"""
OCR = "Tbe c0pper wh1stle ls l0ud. A br ass h orn i5 l ouder. The cop-\nper whistle rn ay be ~~ |_| ^ ri\\ng. f i n e"
BAD_TEXTS: dict[str, str] = {
    "rows of tabs": "name\tpopulation\triver\nBern\t134000\tAare\nPrague\t1300000\tVltava\n" * 3,
    "rows of bars": "| name | population |\n| Bern | 134000 |\n| Prague city | 1300000 |\n",
    "rows of commas": 'name,"old hall",river\nBern,134000,Aare\n"Prague city",1300000,Vltava\n',
    "bullets": "- copper whistle\n- tin drum\n* brass horn\n• old hall\n1) market square\n",
    "source": SOURCE,
    "e-mail": EMAIL,
    "capitals": "THE COPPER WHISTLE IS LOUD. A BRASS HORN IS LOUDER.",
    "no punctuation": PROSE * 20,
    "OCR": OCR,
    "HTML": HTML,
    "Markdown": MARKDOWN,
    "emoji": "😀 copper whistle 🎺🎺 brass horn 😀 👨‍👩‍👧 it was ❤️",
    "control characters": "copper\x00whistle \x07 brass\u2028horn\x0ctin\x1bdrum \ufeff\u200b old\u00a0hall",
    "other scripts": "日本語の文章。 Привет, мир! مرحبا بالعالم नमस्ते दुनिया",
    "punctuation": ".,;:!?()[]{}<>/\\|@#$%^&*-_=+~`'\"" * 20,
    "one letter": "a b c d e f g " * 50,
    "digits": "3.14 1,000 1e10 2024-01-01 127.0.0.1 " * 20,
    "hyphens": "-".join(["state", "of", "the", "art"] * 60),
    "apostrophes": "Ann's dog's bone's end''s ''' o'clock 's rock'n'roll",
    "base64": "".join(random.Random(1).choices("ABCDEFGHabcdefgh0123456789+/", k=5000)),
    "one word": "whistle " * 500,
    "empty": "",
    "blank": " \n\t\r\n \u3000",
}
