/** Shares of pairs that merge, in 20 languages: the same fact, and wrongly others. */

import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import { cosine, type Embedder } from '../src/memory/embedding/embedder.ts';
import { comparePair } from '../src/memory/merging/finding.ts';
import { draft } from '../src/memory/merging/reading.ts';
import { readStatements } from '../src/memory/profiles/statements.ts';
import {
  blindPairs,
  type MergingPair,
  mergingHalves,
  type Relation,
  relations,
} from '../test/memory/merging.fixture.ts';
import { calibrated } from '../test/memory/ranked.fixture.ts';
import { blindSentences, collectedSentences } from '../test/memory/statements.fixture.ts';
import { atLeast, atMost, type Bench, type Row } from './bench.ts';
import { fullModelHint, openFullModel } from './fullmodel.ts';

const goals = { builtin: 0.8, model: 0.85 } as const;
const mergeAbove = 0.9;

export const merging: Bench = {
  async *run() {
    const stated = [...collectedSentences, ...blindSentences].filter(({ states }) => states !== undefined);
    const read = stated.filter(
      ({ text, states }) =>
        readStatements(text)
          .map(({ fact, value }) => `${fact}=${value}`)
          .join() === states,
    );
    yield atLeast(0.9, {
      goal: 'statements of a name, language or time zone, read',
      measured: read.length / stated.length,
      against: 'the sentences that the rules were written with',
    });
    yield* await rowsOf('built-in embedder', createBuiltinEmbedder(), goals.builtin);
    const model = openFullModel();
    if (model === undefined) yield { goal: 'full model', skipped: fullModelHint };
    else yield* await rowsOf('full model', model, goals.model);
    await model?.close();
  },
};

async function rowsOf(name: string, embedder: Embedder, goal: number): Promise<Row[]> {
  const ready = await calibrated(embedder);
  const isMerged = async ({ first, second }: MergingPair) => {
    const [left = new Float32Array(), right = new Float32Array()] = await ready.embed([first, second]);
    const similarity = ready.similarityOf(cosine(left, right));
    return comparePair(draft(first), draft(second), { similarity, mergeAbove }).isTwin;
  };
  const shareOf = async (pairs: readonly MergingPair[], relation: Relation) => {
    const chosen = pairs.filter((pair) => pair.relation === relation);
    const merged = (await Promise.all(chosen.map(isMerged))).filter(Boolean).length;
    console.error(`  ${name}, ${relations[relation]}: ${merged} of ${chosen.length} merged`);
    return merged / chosen.length;
  };
  const { tuned, reported } = mergingHalves;
  const wrong =
    (await shareOf([...tuned, ...reported, ...blindPairs], '~')) + (await shareOf([...tuned, ...reported], '!'));
  return [
    atLeast(goal, { goal: `${name}, same fact, merged`, measured: await shareOf(reported, '='), against: 'all pairs' }),
    atLeast(goal, {
      goal: `${name}, same fact, merged`,
      measured: await shareOf(blindPairs, '='),
      against: 'blind pairs',
    }),
    atMost(0, { goal: `${name}, other facts, merged`, measured: wrong, against: 'all pairs' }),
  ];
}
