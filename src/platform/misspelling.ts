/** Finds environment variables whose names look like misspelled settings. */

export interface Misspelling {
  readonly variable: string;
  readonly likely: string;
}

/** Shorter names are one letter away from too many others: `HOST`, `POST`, `PORT`. */
const shortestName = 6;

/**
 * Finds variables that match no setting and are within two letters of one. Two swapped letters count as one. A short word
 * of the name may differ by one letter only: `NODE_NAME` is not `MODEL_NAME`, and `DB_URL` is not `IDP_URL`.
 */
export function findMisspellings(variables: readonly string[], settings: readonly string[]): readonly Misspelling[] {
  const known = settings.filter((setting) => setting.length >= shortestName).map(split);
  return variables
    .filter((variable) => !settings.includes(variable) && /^[A-Z][A-Z0-9_]*$/.test(variable))
    .flatMap((variable) => {
      const parts = split(variable);
      const near = known
        .map((setting) => ({ setting: setting.name, letters: lettersApart(parts, setting) }))
        .filter((candidate): candidate is { setting: string; letters: number } => candidate.letters !== undefined)
        .sort((one, other) => one.letters - other.letters);
      return near[0] === undefined ? [] : [{ variable, likely: near[0].setting }];
    });
}

interface Name {
  readonly name: string;
  readonly words: readonly string[];
  readonly letters: string;
}

function split(name: string): Name {
  const words = name.split('_');
  return { name, words, letters: words.join('') };
}

const mostLetters = 2;

/** Returns `undefined` if the names are too different for a misspelling. */
function lettersApart(variable: Name, setting: Name): number | undefined {
  // Most pairs end here, so their words are not compared.
  if (Math.abs(variable.letters.length - setting.letters.length) > mostLetters) return undefined;
  const { words } = variable;
  if (words.length !== setting.words.length)
    return variable.letters === setting.letters ? Math.abs(words.length - setting.words.length) : undefined;
  let total = 0;
  for (const [index, settingWord] of setting.words.entries()) {
    const most = settingWord.length < shortestName ? 1 : mostLetters;
    const letters = lettersBetween(words[index] ?? '', settingWord, most);
    total += letters;
    if (letters > most || total > mostLetters) return undefined;
  }
  return total;
}

/** Counts insertions, deletions, substitutions and swaps of neighbors. Returns `most + 1` if there are more than `most`. */
function lettersBetween(one: string, other: string, most: number): number {
  if (one === other) return 0;
  if (most === 0) return 1;
  if (one[0] === other[0]) return lettersBetween(one.slice(1), other.slice(1), most);
  const isSwap = one[0] === other[1] && one[1] === other[0];
  const rests = [[1, 0] as const, [0, 1] as const, [1, 1] as const, ...(isSwap ? [[2, 2] as const] : [])];
  const ways = rests.map(([ofOne, ofOther]) => lettersBetween(one.slice(ofOne), other.slice(ofOther), most - 1));
  return 1 + Math.min(...ways);
}
