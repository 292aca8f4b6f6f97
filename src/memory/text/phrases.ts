/** Makes texts comparable with listed phrases of any language. */
import { cutRuns } from './words.ts';

/**
 * Puts a space on either side of each word. Joins words of scripts without spaces, so that phrases are found within a
 * run.
 */
export function plain(text: string): string {
  const runs = cutRuns(text);
  const isUnspaced = runs.some(({ kind }) => kind === 'grams');
  const words = runs.flatMap(({ kind, text: word }) => (kind === 'symbol' ? [] : word.split("'")));
  return isUnspaced ? words.join('') : ` ${words.join(' ')} `;
}
