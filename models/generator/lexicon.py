"""Words, names and identifiers that sessions are made of.

Everything is drawn from one `random.Random`, so a seed fixes the text. Identifiers are
composed of several words and ids of random digits: they cannot be guessed, only copied.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

NOUNS = """account adapter address agent alarm alias amount anchor archive array artifact asset
attempt audit badge balance banner basket batch beacon billing block board bracket branch bridge
broker bucket budget buffer bundle button cable cache calendar canvas carrier catalog cell channel
charge chart circuit client clock cluster coder column command commit company config consumer
contact container context contract cookie counter country coupon courier cursor customer dataset
deadline decoder delivery deposit device digest dispatch domain driver edge email encoder endpoint
engine entry envelope epoch event exporter factory feature feed field filter fixture flag folder
footer format frame gateway graph grid group guard handler harvest header history hook host image
import index ingest input invoice issue item journal kernel key label lambda language latch layer
layout leaf ledger lens limit link listing loader locale lock logger loop machine manifest map
margin marker matrix member memory menu merchant mesh message meter metric migration mirror model
module monitor mutex network node notice number object offset operator option order origin output
owner package packet page palette panel parcel parser partition patch path payment peer pipeline
pixel plan player plugin point policy pool port prefix printer probe process product profile
promise proxy query queue quota radar range rate reader receipt record region registry relay
release replica report request resolver resource response result retry ribbon ring role root route
router row rule runner sample scanner schedule schema scope screen script search segment sensor
sequence server service session setting shard shelf shipment signal sink site slice slot snapshot
socket source span stage state station stock storage stream student subject suffix summary switch
symbol table tag target task team template tenant thread ticket timer token topic trace tracker
transfer tree trigger tunnel tuple unit update upload user value vault vector vendor version view
volume voucher wallet warehouse watcher webhook widget window worker workflow writer zone""".split()

VERBS = """accept add align allocate append apply assign attach await balance bind build calculate
cancel capture check claim clean clear clone close collect combine compact compare compile compose
compress compute connect consume convert copy count create decode delete deliver detect dispatch
drain drop emit encode enqueue ensure escape evict expand expire export extract fetch fill filter
find flatten flush fold forward freeze group guess hash import index insert inspect join keep load
lock lookup map mark match measure merge migrate mount move normalize notify open pack parse patch
peek persist pick poll prepare prune publish pull push rank read rebuild record reduce refresh
register reject release remove rename render replay report reserve reset resize resolve restore
retry reverse rotate round route sample save scan schedule seal select send settle shift sign skip
sort split stage start stop store submit swap sync throttle toggle trace track transform trim
unlock unpack update upload validate verify wait warm watch wrap write zip""".split()

ADJECTIVES = """active ancient blue brief broken busy cached calm central cold common complete
daily damaged deep default dirty dry early empty exact extra fast final first fixed flat foreign
fresh full global gray green hidden hollow idle inner invalid large last late lazy legacy light
local long loose lost lower main manual minor missing mixed modern narrow nested new next noisy
northern old open outer partial pending plain prior private public quick quiet random rapid rare
raw recent red remote rough round safe secure shared sharp short silent simple single slow small
smooth soft southern spare stale static steady strict strong sudden tall temporary thin tiny total
unique unused upper urgent valid visible warm weak wide wild young""".split()

PEOPLE = """Aiko Amara Anders Björn Chloé Dmitri Eluned Fatima Gustavo Håkon Ines Jürgen Kwame
Łukasz Mei Naïma Oluwaseun Priya Quentin Rosa Søren Tomás Uchenna Viktor Wanjiru Xiomara Yusuf Zoë
李娜 王伟 佐藤 김민준""".split()

ADVERBS = """quickly safely twice silently early late partially eagerly lazily atomically rarely
often correctly repeatedly slowly cleanly once immediately""".split()

SYMBOLS = ["→", "✓", "…", "é", "ß", "日本", "🚀", "µs", "°C", "—", "“ok”", "naïve", "½"]  # fmt: skip

EXTENSION = {"python": "py", "typescript": "ts", "go": "go", "shell": "sh", "yaml": "yaml"}


class Lexicon:
    """Draws words and ids from a seeded source."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def one(self, options: Sequence[str]) -> str:
        return options[int(self.rng.random() * len(options))]

    def noun(self) -> str:
        return self.one(NOUNS)

    def verb(self) -> str:
        return self.one(VERBS)

    def adjective(self) -> str:
        return self.one(ADJECTIVES)

    def adverb(self) -> str:
        return self.one(ADVERBS)

    def person(self) -> str:
        return self.one(PEOPLE)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def number(self, low: int = 1, high: int = 999) -> int:
        return self.rng.randint(low, high)

    def snake(self) -> str:
        """`parse_header`, `retry_pending_batch`."""
        parts = [self.verb()]
        if self.chance(0.35):
            parts.append(self.adjective())
        parts.append(self.noun())
        return "_".join(parts)

    def variable(self) -> str:
        return f"{self.adjective()}_{self.noun()}" if self.chance(0.5) else self.noun()

    def camel(self) -> str:
        first, *rest = self.snake().split("_")
        return first + "".join(p.capitalize() for p in rest)

    def pascal(self) -> str:
        return (self.noun() + " " + self.noun()).title().replace(" ", "")

    def hexid(self, length: int) -> str:
        return "".join(self.one("0123456789abcdef") for _ in range(length))

    def ticket(self) -> str:
        """`OPS-4812`."""
        return f"{self.one(['OPS', 'WEB', 'CORE', 'PAY', 'DATA', 'INFRA'])}-{self.number(100, 9999)}"

    def version(self) -> str:
        return f"{self.number(0, 9)}.{self.number(0, 30)}.{self.number(0, 30)}"

    def path(self, language: str) -> str:
        """`src/billing/retry_policy.py`."""
        top = self.one(["src", "lib", "app", "internal", "pkg", "services", "tools"])
        middle = "/" + self.noun() if self.chance(0.7) else ""
        stem = f"{self.noun()}_{self.noun()}" if self.chance(0.6) else self.noun()
        return f"{top}{middle}/{stem}.{EXTENSION[language]}"
