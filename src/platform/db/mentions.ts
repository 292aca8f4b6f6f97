/** Finds rows that mention a person, in texts of any form such as JSON, keys and the replies of mail servers. */
import { type RawBuilder, sql } from 'kysely';

/** What can stand before and after an address if it is a part of a longer one: `ann@a.com` is not in `joann@a.com`. */
const [before, after] = ['(?<![[:alnum:]._%+-])', '(?![[:alnum:]-]|[.][[:alnum:]])'];

/** A regular expression of PostgreSQL. Ids are found anywhere, because keys are composed of them. */
function patternOf(word: string): string {
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return word.includes('@') ? `${before}${escaped}${after}` : escaped;
}

/** A condition: one of `texts` mentions one of `words`, which are ids and email addresses in lower case. */
export function mentions(texts: readonly RawBuilder<unknown>[], words: readonly string[]): RawBuilder<boolean> {
  // The plain comparison rules out most texts, and is faster than the pattern.
  const found = texts.map(
    (text) => sql`case when strpos(lower(${text}), word) > 0 then lower(${text}) ~ pattern else false end`,
  );
  return sql<boolean>`exists (
    select from unnest(${words}::text[], ${words.map(patternOf)}::text[]) as sought (word, pattern)
    where ${sql.join(found, sql` or `)})`;
}
