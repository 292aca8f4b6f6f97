/** Formats times, sizes and counts for people. */

const number = new Intl.NumberFormat();
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'long' });

export const momentOf = (at: string) => moment.format(new Date(at));
export const countOf = (value: number) => number.format(value);

/** `1 item`, `1,234 items`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countOf(count)} ${count === 1 ? one : many}`;

/** `max_year` → `Max (yearly)`. */
export const planName = (plan: string): string =>
  plan.slice(0, 1).toUpperCase() + plan.slice(1).replace('_year', ' (yearly)');

/** `10,000+` for a count that ends one above `largest`. */
export const countUpTo = (largest: number, value: number) =>
  value > largest ? `${countOf(largest)}+` : countOf(value);

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

export function sinceThen(at: string, nowMs = Date.now()): string {
  const seconds = (nowMs - Date.parse(at)) / 1000;
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? [undefined, 1];
  return unit === undefined ? 'just now' : relative.format(-Math.trunc(seconds / length), unit);
}

/** For the next attempt of a job, say. */
export function untilThen(at: string): string {
  const leftMs = Date.parse(at) - Date.now();
  return leftMs <= 0 ? 'now' : leftMs < 60_000 ? 'in less than a minute' : sinceThen(at);
}

export function When({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={momentOf(at)}>
      {sinceThen(at)}
    </time>
  );
}

export function sizeOf(bytes: number): string {
  const scale = ['bytes', 'kB', 'MB', 'GB'];
  const step = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${scale[step]}`;
}

export function durationOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
