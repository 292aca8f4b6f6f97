import { beforeAll, describe, expect, it } from 'vitest';
import { conversations } from '../../../test/memory/conversations.fixture.ts';
import { blindPools, classes, type HitRate, halves, measureMeaning } from '../../../test/memory/meaning.fixture.ts';
import { calibrated, rankContents } from '../../../test/memory/ranked.fixture.ts';
import { bm25, termsOf } from '../../../test/memory/recall.fixture.ts';
import { createBuiltinEmbedder } from '../embedding/builtin.ts';
import type { CalibratedEmbedder } from '../embedding/embedder.ts';

const people = Object.values(halves).flat();

describe('the set of facts and questions', () => {
  it('is large enough', () => {
    expect(people.flatMap(({ facts }) => facts).length).toBeGreaterThanOrEqual(300);
    expect(people.flatMap(({ questions }) => questions).length).toBeGreaterThanOrEqual(400);
  });

  it('contains no fact twice and no fact in both halves', () => {
    const facts = people.flatMap(({ facts }) => facts);
    expect(new Set(facts).size).toBe(facts.length);
  });

  it('has paraphrased questions without shared words', () => {
    const questions = people.flatMap((person) => person.questions).filter(({ kind }) => kind === 'p' || kind === 'x');
    const copied = questions.filter(({ question, answer }) => {
      const words = new Set(termsOf(answer));
      return termsOf(question).some((term) => words.has(term));
    });
    // Stems of another language, and single characters that many words have.
    expect(copied.length / questions.length).toBeLessThan(0.15);
  });
});

describe('the built-in embedder, on the half that nothing is tuned on', () => {
  let embedder: CalibratedEmbedder;
  let rates: ReadonlyMap<string, HitRate>;
  beforeAll(async () => {
    embedder = await calibrated(createBuiltinEmbedder());
    rates = await measureMeaning(halves.reported, ({ facts }) => rankContents(embedder, facts));
  });

  it.each([
    ['s', 0.95],
    ['p', 0.7],
    ['x', 0.85],
    ['f', 0.8],
  ] as const)('finds %s among the first five in %d of the cases', (kind, share) => {
    expect(rates.get(classes[kind])?.at5).toBeGreaterThanOrEqual(share);
  });

  it('finds paraphrases that were written without sight of the rules', async () => {
    const reported = blindPools.filter(({ name }) => name.startsWith('B'));
    const found = await measureMeaning(reported, ({ facts }) => rankContents(embedder, facts));
    expect(found.get(classes.p)?.at5).toBeGreaterThanOrEqual(0.7);
  });

  it('finds turns of conversations that BM25 with stems misses', async () => {
    const hits = async (
      searchIn: (place: number) => Promise<(question: string, limit: number) => Promise<readonly string[]>>,
    ) => {
      let count = 0;
      for (const [place, { questions }] of conversations.entries()) {
        const search = await searchIn(place);
        for (const { question, answer } of questions) if ((await search(question, 5)).includes(answer)) count += 1;
      }
      return count;
    };
    const turnsOf = (place: number) => conversations[place]?.turns ?? [];
    const contentsOf = (place: number) => turnsOf(place).map(({ content }) => content);
    const ours = await hits((place) =>
      rankContents(embedder, contentsOf(place), (turn) => ({
        type: 'episodic',
        atMs: turnsOf(place)[turn]?.atMs ?? 0,
      })),
    );
    const stems = await hits((place) => bm25({ memories: contentsOf(place) }));
    expect(ours).toBeGreaterThanOrEqual(1.1 * stems);
  });
});
