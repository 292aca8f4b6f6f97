/**
 * Hit rates by class of question, for BM25 alone, the built-in embedder and the model that it was made
 * from (fullmodel.ts).
 */
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import type { Embedder } from '../src/memory/embedding/embedder.ts';
import { type Conversation, conversations } from '../test/memory/conversations.fixture.ts';
import {
  blindPools,
  classes,
  type HitRate,
  halves,
  type MeaningPerson,
  measureMeaning,
} from '../test/memory/meaning.fixture.ts';
import { calibrated, rankContents } from '../test/memory/ranked.fixture.ts';
import { bm25, type Search } from '../test/memory/recall.fixture.ts';
import { atLeast, type Outcome, type Row } from './bench.ts';
import { fullModelHint, openFullModel } from './fullmodel.ts';

interface Way {
  readonly name: string;
  readonly inFacts: (person: MeaningPerson) => Promise<Search>;
  readonly inTurns: (conversation: Conversation) => Promise<Search>;
}

/** At 5, on the half that nothing is tuned on. */
const goals = { builtin: { s: 0.95, p: 0.7, x: 0.85 }, model: { s: 0.97, p: 0.92, x: 0.9 } } as const;
const conversationGoals = { builtin: 1.1, model: 1.25 } as const;

export async function meaningRows(): Promise<Outcome[]> {
  const words: Way = {
    name: 'BM25 with stems',
    inFacts: ({ facts }) => bm25({ memories: facts }),
    inTurns: ({ turns }) => bm25({ memories: turns.map(({ content }) => content) }),
  };
  const builtin = await wayOf('built-in', createBuiltinEmbedder());
  const ways = [words, builtin];
  const model = openFullModel();
  if (model !== undefined) ways.push(await wayOf('full model', model));

  for (const half of ['tuned', 'reported'] as const) {
    const rates = await Promise.all(ways.map(({ inFacts }) => measureMeaning(halves[half], inFacts)));
    print(`half ${half}, hit rate at 1 / at 5`, ways, rates);
  }
  const byPerson = (_question: unknown, { name }: MeaningPerson) => name;
  const languages = await Promise.all(ways.map(({ inFacts }) => measureMeaning(halves.reported, inFacts, byPerson)));
  print('half reported, by person and languages', ways, languages);

  const rows = await rowsOf('built-in embedder', builtin, goals.builtin);
  const stems = await hitsInTurns(words);
  const conversation = async (name: string, way: Way, goal: number) => {
    const hits = await hitsInTurns(way);
    console.error(`  turns of conversations at 5: ${hits.toFixed(3)} ${name}, ${stems.toFixed(3)} BM25 with stems`);
    rows.push(
      atLeast(goal, {
        goal: `${name}, recall@5 of turns of conversations`,
        measured: hits / stems,
        against: 'BM25 with stems',
      }),
    );
  };
  await conversation('built-in embedder', builtin, conversationGoals.builtin);
  if (model !== undefined) {
    const way = await wayOf('full model', model);
    rows.push(...(await rowsOf('full model', way, goals.model)));
    await conversation('full model', way, conversationGoals.model);
  }
  await model?.close();
  return model === undefined ? [...rows, { goal: 'full model', skipped: fullModelHint }] : rows;
}

async function wayOf(name: string, embedder: Embedder): Promise<Way> {
  const ready = await calibrated(embedder);
  return {
    name,
    inFacts: ({ facts }) => rankContents(ready, facts),
    inTurns: ({ turns }) =>
      rankContents(
        ready,
        turns.map(({ content }) => content),
        (place) => ({ type: 'episodic', atMs: turns[place]?.atMs ?? 0 }),
      ),
  };
}

async function rowsOf(name: string, way: Way, bounds: Readonly<Record<'s' | 'p' | 'x', number>>): Promise<Row[]> {
  const rows = async (people: readonly MeaningPerson[], kinds: readonly ('s' | 'p' | 'x')[], against: string) => {
    const rates = await measureMeaning(people, way.inFacts);
    return kinds.map((kind) =>
      atLeast(bounds[kind], {
        goal: `${name}, ${classes[kind]}, hit rate at 5`,
        measured: rates.get(classes[kind])?.at5 ?? 0,
        against,
      }),
    );
  };
  return [
    ...(await rows(halves.reported, ['s', 'p', 'x'], 'all questions')),
    ...(await rows(blindPools, ['p', 'x'], 'blind questions')),
  ];
}

async function hitsInTurns({ inTurns }: Way): Promise<number> {
  let [hits, all] = [0, 0];
  for (const conversation of conversations) {
    const search = await inTurns(conversation);
    for (const { question, answer } of conversation.questions) {
      all += 1;
      if ((await search(question, 5)).includes(answer)) hits += 1;
    }
  }
  return hits / all;
}

function print(title: string, ways: readonly Way[], rates: readonly ReadonlyMap<string, HitRate>[]): void {
  const groups = [...(rates[0]?.keys() ?? [])];
  console.error(`  ${title}`);
  console.table(
    groups.map((group) => ({
      group,
      questions: rates[0]?.get(group)?.questions,
      ...Object.fromEntries(
        ways.map(({ name }, place) => {
          const { at1 = 0, at5 = 0 } = rates[place]?.get(group) ?? {};
          return [name, `${at1.toFixed(3)} / ${at5.toFixed(3)}`];
        }),
      ),
    })),
  );
}
