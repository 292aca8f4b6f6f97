/** Reads the months that a query names, in the content languages. */

const languages = 'en de es fr it pt ru ms'.split(' ');
const numbered = /(?<!\d)(1[0-2]|[1-9]) ?[月월]/gu;
const years = /(?<!\d)(?:19|20)\d\d(?!\d)/g;

/** Endings of Russian months, whose names have cases. */
const endings = ['', ...'йьаяеюи'];

/** The numbers of months, from 0. Prepared on first use, because a start does not need them. */
let prepared: ReadonlyMap<string, number> | undefined;

function prepare(): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const language of languages) {
    const format = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
    for (let month = 0; month < 12; month += 1) {
      const name = format.format(Date.UTC(2024, month));
      const forms = language === 'ru' ? endings.map((ending) => name.replace(/[йь]$/, '') + ending) : [name];
      // Capitals as written, or at the beginning of a sentence: "may" and "march" are words too.
      for (const form of forms)
        for (const written of [form, form.slice(0, 1).toUpperCase() + form.slice(1)]) numbers.set(written, month);
    }
  }
  return numbers;
}

/** Returns whether a time is in one of the months that the text names, or `undefined` if it names none. */
export function readMonths(text: string): ((timeMs: number) => boolean) | undefined {
  prepared ??= prepare();
  const months = new Set<number>();
  for (const [word] of text.matchAll(/\p{L}+/gu)) {
    const month = prepared.get(word);
    if (month !== undefined) months.add(month);
  }
  for (const [, number] of text.matchAll(numbered)) months.add(Number(number) - 1);
  if (months.size === 0) return undefined;
  const inYears = new Set([...text.matchAll(years)].map(([year]) => Number(year)));
  return (timeMs) => {
    const time = new Date(timeMs);
    return months.has(time.getUTCMonth()) && (inYears.size === 0 || inYears.has(time.getUTCFullYear()));
  };
}
