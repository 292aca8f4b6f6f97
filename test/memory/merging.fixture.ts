/**
 * Pairs of contents in 20 languages, written by hand: the same fact (=), another fact (~) or a contradiction (!). The
 * rules and tables are tuned on every second pair of a class, and results are reported on the others.
 */
import { blindPairs as blindText } from './blind.fixture.ts';
import { classes } from './merging-classes.fixture.ts';
import { east } from './merging-east.fixture.ts';
import { reworded } from './merging-reworded.fixture.ts';
import { west } from './merging-west.fixture.ts';

export const relations = { '=': 'same fact', '~': 'other fact', '!': 'contradiction' } as const;
export type Relation = keyof typeof relations;

export interface MergingPair {
  readonly language: string;
  readonly relation: Relation;
  readonly first: string;
  readonly second: string;
}

const isRelation = (text: string): text is Relation => Object.hasOwn(relations, text);

function readPairs(text: string): readonly MergingPair[] {
  return text
    .split('\n# ')
    .slice(1)
    .flatMap((part) => {
      const [language = '', ...lines] = part.trim().split('\n');
      return lines.map((line): MergingPair => {
        const [relation = '', rest] = [line.slice(0, 1), line.slice(2)];
        const [first, second] = rest.split(' | ');
        if (!isRelation(relation) || first === undefined || second === undefined)
          throw new Error(`Not a pair: ${line}`);
        return { language, relation, first, second };
      });
    });
}

export const mergingPairs = [...readPairs(west), ...readPairs(east)];

export const mergingHalves = {
  tuned: mergingPairs.filter((_, place) => place % 2 === 0),
  reported: mergingPairs.filter((_, place) => place % 2 === 1),
} as const;

/** `language` is the half; see `blind.fixture.ts`. */
export const blindPairs = readPairs(blindText);

/** What the rules for other words and another order are tuned on. */
export const rewordedPairs = [...readPairs(reworded), ...blindPairs];

/** See `merging-classes.fixture.ts`. */
export const classPairs = readPairs(classes);
