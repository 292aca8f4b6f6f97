/** The labels of a classifier, and the rules of MEDIA_SCREENING_RULES about them (docs/specification/media.md#labels). */
import { z } from 'zod';
import { parseJson } from '#platform/json.ts';
import { isStorableText } from '#platform/storable.ts';

const longestName = 200;

const name = z.string().min(1).max(longestName).refine(isStorableText, 'must not contain NUL or lone surrogates');
const share = z.number().min(0).max(1);

export const label = z.object({ name, score: share.describe('0 to 1.') });
export type Label = z.output<typeof label>;

const actions = ['block', 'restrict', 'flag'] as const;

const rules = z.array(z.strictObject({ label: name, minScore: share, action: z.enum(actions) })).max(1000);
export type Rule = z.output<typeof rules>[number];

/** A rule that applies. */
export interface Hit {
  readonly label: string;
  readonly action: (typeof actions)[number];
}

/** As many as a row stores. Rules see all labels. */
const mostStored = 100;

export function parseRules(raw: string): readonly Rule[] {
  const value = parseJson(raw);
  if (value === undefined) throw new Error('must be a JSON array of { label, minScore, action }');
  const parsed = rules.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.length ? ` (${issue.path.join('.')})` : '';
  throw new Error(`must be a JSON array of { label, minScore, action }${place}: ${issue?.message ?? ''}`);
}

/** Each name once, the highest scores first. */
export function toStored(labels: readonly Label[]): readonly Label[] {
  const highest = new Map<string, number>();
  for (const { name: each, score } of labels) highest.set(each, Math.max(score, highest.get(each) ?? 0));
  const sorted = [...highest].sort(([, first], [, second]) => second - first);
  return sorted.slice(0, mostStored).map(([each, score]) => ({ name: each, score }));
}

/** The rules that apply to `labels`: the strictest first, and then by score. One of each label. */
export function hitsOf(given: readonly Rule[], labels: readonly Label[]): readonly Hit[] {
  const hits = new Map<string, Hit & { readonly score: number }>();
  for (const { label: wanted, minScore, action } of given) {
    const score = Math.max(...labels.flatMap((each) => (each.name === wanted ? [each.score] : [])));
    const known = hits.get(wanted);
    if (score >= minScore && (known === undefined || isStricter(action, known.action)))
      hits.set(wanted, { label: wanted, action, score });
  }
  const order = [...hits.values()].sort(
    (first, second) => actions.indexOf(first.action) - actions.indexOf(second.action) || second.score - first.score,
  );
  return order.map(({ label: named, action }) => ({ label: named, action }));
}

const isStricter = (one: Hit['action'], other: Hit['action']) => actions.indexOf(one) < actions.indexOf(other);
