/**
 * What the comparison of two contents knows of one language (docs/specification/memory.md#adding). Lists are separated by
 * commas; an entry may have several words, and hyphens count as spaces. The words are in lower case.
 */

/** Words of one meaning, and words that have an opposite (`opposites`). */
export type Concept =
  | Exclude<(typeof opposites)[number][number], undefined>
  | 'answer'
  | 'picture'
  | 'live'
  | 'named'
  | 'color'
  | 'background'
  | 'always';

export type Person = 'he' | 'she' | 'we' | 'they' | 'you';

export interface Words {
  /** Negations, and words of quitting and forbidding. */
  readonly negations: string;
  /** Negations that only strengthen another one of the same sentence: "ne … jamais", "no … nada". */
  readonly concord?: string;
  /** Words that change the sense of a sentence: but, only, almost, former. */
  readonly turning: string;
  /** Articles, politeness and emphasis, which change no fact. */
  readonly idle: string;
  /** Words that begin an addition to a complete statement: "I live in Oslo" and "… with my wife". */
  readonly elaborating?: string;
  /** Verbs whose statement an addition narrows: "I eat fish", "I eat fish in Japan". */
  readonly attitudes?: string;
  /** All forms of "I". */
  readonly firstPerson: string;
  /** "The user". */
  readonly users: string;
  readonly persons?: Readonly<Partial<Record<Person, string>>>;
  /** From zero. Slashes separate alternatives. Words that are also articles are left out. */
  readonly numbers: string;
  /** Twenty, thirty, up to ninety. */
  readonly tens?: string;
  readonly hundred?: string;
  readonly thousand?: string;
  readonly half?: string;
  /** From Monday. */
  readonly weekdays: string;
  /** From January. */
  readonly months: string;
  /** Today, tomorrow, yesterday, weekend. */
  readonly days: string;
  /** Times that may stand anywhere in a sentence. */
  readonly floating?: string;
  readonly concepts: Readonly<Partial<Record<Concept, string>>>;
}

export interface Language extends Words {
  readonly code: string;
  /** Written without spaces, or with endings: the lists are looked up within words. */
  readonly unspaced?: boolean;
  /** Words that contain a listed one and mean something else. */
  readonly exceptions?: string;
  /** Finds negation in the forms of a word. */
  readonly negatedForm?: RegExp;
  /** More words that show the language. */
  readonly frequent?: string;
  /** Letters that show the language. */
  readonly letters?: RegExp;
}

export const opposites = [
  ['like', 'hate'],
  ['left', 'right'],
  ['top', 'bottom'],
  ['front', 'back'],
  ['before', 'after'],
  ['warm', 'cold'],
  ['warm', 'cool'],
  ['hot', 'cold'],
  ['light', 'dark'],
  ['big', 'small'],
  ['long', 'short'],
  ['tall', 'short'],
  ['fast', 'slow'],
  ['loud', 'quiet'],
  ['early', 'late'],
  ['more', 'less'],
  ['high', 'low'],
  ['open', 'closed'],
  ['first', 'last'],
  ['inside', 'outside'],
  ['on', 'off'],
  ['from', 'to'],
  ['up', 'down'],
  ['thick', 'thin'],
  ['wide', 'narrow'],
  ['hard', 'soft'],
  ['old', 'new'],
  ['old', 'young'],
  ['older', 'younger'],
  ['better', 'worse'],
  ['buy', 'sell'],
  ['add', 'remove'],
  ['include', 'remove'],
  ['allow', 'forbid'],
  ['north', 'south'],
  ['east', 'west'],
  ['morning', 'evening'],
  ['day', 'night'],
  ['summer', 'winter'],
  ['male', 'female'],
  ['horizontal', 'vertical'],
  ['public', 'private'],
  ['formal', 'informal'],
  ['simple', 'complex'],
  ['glossy', 'matte'],
  ['modern', 'traditional'],
  ['black', 'white'],
  ['married', 'divorced'],
  ['happy', 'sad'],
  ['cheap', 'expensive'],
  ['sweet', 'bitter'],
  ['wet', 'dry'],
  ['full', 'empty'],
  ['often', 'rarely'],
  ['always', 'rarely'],
  ['always', 'sometimes'],
] as const;
