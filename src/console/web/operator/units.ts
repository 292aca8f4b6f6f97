const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export const decimalOf = (value: number): string => decimal.format(value);
/** For example 12.3K. */
export const compactOf = (value: number): string => compact.format(value);
export const timeOf = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${decimal.format(ms / 1000)} s`);

const dollars = (most: number) =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: most });
const [cents, parts] = [dollars(2), dollars(6)];
/** US dollars, to the cent. Less than a cent has two digits, and the price of a unit all that it has. */
export const moneyOf = (usd: number, isPrice = false): string =>
  isPrice || Math.abs(usd) < 0.01 ? parts.format(isPrice ? usd : Number(usd.toPrecision(2))) : cents.format(usd);
export const dayMs = 86_400_000;
/** In UTC. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
function inUtc(options: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' });
  return (date: string): string => format.format(new Date(date));
}
/** `2026-11-28` → `Nov 28, 2026`, `Nov 28` and `November 2026`. */
export const dayNameOf = inUtc({ dateStyle: 'medium' });
export const shortDayOf = inUtc({ month: 'short', day: 'numeric' });
export const monthNameOf = inUtc({ month: 'long', year: 'numeric' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
export const clockOf = (at: string | null = null): string => (at === null ? '' : clock.format(new Date(at)));
export const tookOf = (from: string, to: string): string => timeOf(Date.parse(to) - Date.parse(from));
