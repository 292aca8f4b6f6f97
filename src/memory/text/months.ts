/** Reads the months that a query names, in the content languages. */

const languages = 'en de es fr it pt ru ms'.split(' ');
const numbered = /(?<!\d)(1[0-2]|[1-9]) ?[月월]/gu;
const years = /(?<!\d)(?:19|20)\d\d(?!\d)/g;

/** One pattern for each month. Prepared on first use, because a start does not need them. */
let prepared: readonly RegExp[] | undefined;

function prepare(): readonly RegExp[] {
  return Array.from({ length: 12 }, (_, month) => {
    const names = languages.flatMap((language) => {
      const format = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
      const name = format.format(Date.UTC(2024, month));
      const [first = '', rest] = [name.slice(0, 1), name.slice(1)];
      // Capitals as written, or at the beginning of a sentence: "may" and "march" are words too. Russian names have cases.
      const written = `[${first}${first.toUpperCase()}]${rest}`;
      return language === 'ru' ? `${written.replace(/[йь]$/, '')}[йьаяеюи]?` : written;
    });
    return new RegExp(`(?<!\\p{L})(?:${names.join('|')})(?!\\p{L})`, 'u');
  });
}

/** Returns whether a time is in one of the months that the text names, or `undefined` if it names none. */
export function readMonths(text: string): ((timeMs: number) => boolean) | undefined {
  prepared ??= prepare();
  const months = new Set(prepared.flatMap((pattern, month) => (pattern.test(text) ? [month] : [])));
  for (const [, number] of text.matchAll(numbered)) months.add(Number(number) - 1);
  if (months.size === 0) return undefined;
  const inYears = new Set([...text.matchAll(years)].map(([year]) => Number(year)));
  return (timeMs) => {
    const time = new Date(timeMs);
    return months.has(time.getUTCMonth()) && (inYears.size === 0 || inYears.has(time.getUTCFullYear()));
  };
}
