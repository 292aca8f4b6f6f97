const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export const decimalOf = (value: number): string => decimal.format(value);
/** For example 12.3K. */
export const compactOf = (value: number): string => compact.format(value);
export const timeOf = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${decimal.format(ms / 1000)} s`);

const cents = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });
const parts = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', minimumFractionDigits: 4 });
/** US dollars, to the cent. Less than a dollar has four decimals, so that the amounts of a column line up. */
export const moneyOf = (usd: number): string => (usd !== 0 && Math.abs(usd) < 1 ? parts : cents).format(usd);
const price = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 6 });
/** US dollars. Prices of providers are often parts of a cent. */
export const priceOf = (usd: number): string => price.format(usd);
export const dayMs = 86_400_000;
/** In UTC. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
/** `2026-11-28` → `Nov 28, 2026`. */
export const dayNameOf = (date: string): string => day.format(new Date(date));
const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
/** `2026-11-01` → `November 2026`. */
export const monthNameOf = (date: string): string => month.format(new Date(date));
const shortDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
/** `2026-11-28` → `Nov 28`. */
export const shortDayOf = (date: string): string => shortDay.format(new Date(date));
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
export const clockOf = (at: string | null = null): string => (at === null ? '' : clock.format(new Date(at)));
export const tookOf = (from: string, to: string): string => timeOf(Date.parse(to) - Date.parse(from));
