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
    const letters = editDistance(words[index] ?? '', settingWord);
    total += letters;
    if (total > mostLetters || letters > (settingWord.length < shortestName ? 1 : mostLetters)) return undefined;
  }
  return total;
}

/** Counts insertions, deletions, substitutions and swaps of neighbors (optimal string alignment). */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > mostLetters) return mostLetters + 1;
  let twoAbove: readonly number[] = [];
  let above: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (twoAbove[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    twoAbove = above;
    above = current;
  }
  return above[other.length] ?? 0;
}
