/** Joins the parts of a date, so that "5 March 2027", "March 5, 2027" and "2027-03-05" read the same. */
import type { Token } from './lexicon.ts';

/** Words between the parts: "5 de marzo de 2027", "March 5th". */
const joints = new Set(['=from', 'of', 'th', 'st', 'nd', 'rd', 'de', 'den', 'г', 'года', 'roku', 'r']);

export function joinDates(tokens: readonly Token[]): readonly Token[] {
  const joined: Token[] = [];
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place];
    if (token === undefined) break;
    const whole = wholeDate(token);
    if (whole !== undefined) {
      joined.push(whole);
      continue;
    }
    const found = dateAt(tokens, place);
    if (found === undefined) joined.push(token);
    else {
      joined.push({ kind: 'date', value: found.value });
      place = found.end - 1;
    }
  }
  return joined;
}

function wholeDate({ kind, value }: Token): Token | undefined {
  if (kind !== 'number') return undefined;
  const [, year, month, day] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(value) ?? [];
  if (year !== undefined) return { kind: 'date', value: `${year}-${Number(month)}-${Number(day)}` };
  const [, days, months, years] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(value) ?? [];
  return days === undefined ? undefined : { kind: 'date', value: `${years}-${Number(months)}-${Number(days)}` };
}

/** A date of a day and a month, in either order, with or without a year. */
function dateAt(tokens: readonly Token[], start: number): { readonly value: string; readonly end: number } | undefined {
  const first = part(tokens, start);
  const second = part(tokens, first.end);
  const [day, month] = first.day === undefined ? [second.day, first.month] : [first.day, second.month];
  if (day === undefined || month === undefined) return undefined;
  const third = part(tokens, second.end);
  return { value: `${third.year ?? ''}-${month}-${day}`, end: third.year === undefined ? second.end : third.end };
}

/** Reads one part of a date, and the joints after it. */
function part(tokens: readonly Token[], place: number) {
  const { kind, value = '' } = tokens[place] ?? {};
  const number = kind === 'number' && /^\d+$/.test(value) ? Number(value) : undefined;
  const [, month] = (kind === 'date' && /^month(\d+)$/.exec(value)) || [];
  let end = place + 1;
  while (joints.has(tokens[end]?.value ?? '')) end += 1;
  return {
    day: number !== undefined && number >= 1 && number <= 31 ? number : undefined,
    month: month === undefined ? undefined : Number(month),
    year: number !== undefined && number >= 1900 && number <= 2199 ? number : undefined,
    end,
  };
}
