/**
 * How well meanings are found. The set is ours: 12 people with 26 facts each, as one would state them in a chat, and
 * questions in classes. Weights are tuned on one half and results are reported on the other.
 *
 * A line is a fact; the lines after it are questions that it answers, each after the letter of its class.
 */
import { blindMeaning } from './blind.fixture.ts';
import { reported } from './meaning-reported.fixture.ts';
import { tuned } from './meaning-tuned.fixture.ts';

export const classes = { s: 'shared word', p: 'paraphrase', x: 'other language', f: 'other form' } as const;
export type Class = keyof typeof classes;

export interface MeaningQuestion {
  readonly kind: Class;
  readonly question: string;
  readonly answer: string;
}

export interface MeaningPerson {
  readonly name: string;
  readonly facts: readonly string[];
  readonly questions: readonly MeaningQuestion[];
}

export const halves = { tuned: read(tuned), reported: read(reported) } as const;

/** Pools of facts, named by their half; see `blind.fixture.ts`. */
export const blindPools = read(blindMeaning);

function read(text: string): readonly MeaningPerson[] {
  return text
    .split('\n# ')
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n').filter((line) => line !== '');
      const facts: string[] = [];
      const questions: MeaningQuestion[] = [];
      for (const line of lines) {
        const kind = classOf(line);
        if (kind === undefined) facts.push(line);
        else questions.push({ kind, question: line.slice(2), answer: facts.at(-1) ?? '' });
      }
      return { name, facts, questions };
    });
}

function classOf(line: string): Class | undefined {
  return (Object.keys(classes) as Class[]).find((kind) => line.startsWith(`${kind} `));
}

export interface HitRate {
  readonly questions: number;
  readonly at1: number;
  readonly at5: number;
}

/** Hit rates by class. `searchIn` returns the contents found for a question, best first. */
export async function measureMeaning(
  people: readonly MeaningPerson[],
  searchIn: (person: MeaningPerson) => Promise<(question: string, limit: number) => Promise<readonly string[]>>,
  groupOf: (question: MeaningQuestion, person: MeaningPerson) => string = ({ kind }) => classes[kind],
): Promise<ReadonlyMap<string, HitRate>> {
  const groups = new Map<string, { questions: number; first: number; five: number }>();
  for (const person of people) {
    const search = await searchIn(person);
    for (const question of person.questions) {
      const found = await search(question.question, 5);
      const key = groupOf(question, person);
      const group = groups.get(key) ?? { questions: 0, first: 0, five: 0 };
      group.questions += 1;
      if (found[0] === question.answer) group.first += 1;
      if (found.includes(question.answer)) group.five += 1;
      groups.set(key, group);
    }
  }
  return new Map(
    [...groups].map(([key, { questions, first, five }]) => [
      key,
      { questions, at1: first / questions, at5: five / questions },
    ]),
  );
}
