const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export const decimalOf = (value: number): string => decimal.format(value);
/** For example 12.3K. */
export const compactOf = (value: number): string => compact.format(value);
export const timeOf = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${decimal.format(ms / 1000)} s`);

const money = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 });
/** US dollars. Small amounts keep three digits. */
export const moneyOf = (usd: number): string => money.format(usd);
export const tookOf = (from: string, to: string): string => timeOf(Date.parse(to) - Date.parse(from));
