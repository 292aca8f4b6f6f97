/** A process that adds the given memories to its own memory service, one by one, for the tests that kill it. */

import { migrations } from '#app/migrations.ts';
import { addMemory } from '#memory/changes/adding.ts';
import { createWrites } from '#memory/changes/entitywrite.ts';
import type { MemoryContext } from '#memory/context.ts';
import { createBuiltinEmbedder } from '#memory/embedding/builtin.ts';
import { calibrateEmbedder } from '#memory/embedding/embedder.ts';
import { findVectorColumn } from '#memory/memories/memorystore.ts';
import { createEntityIndexes } from '#memory/search/entityindex.ts';
import type { MemoryTables } from '#memory/tables.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { type RetryOptions, retry } from '#platform/resilience.ts';

export interface AddingOrders {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly entities: readonly string[];
  /** Each is added once a round to each entity, wrapped in the variants of `wordingsOf`. */
  readonly facts: readonly string[];
  /** Each has a wording of its own. */
  readonly firstRound: number;
  readonly lastRound: number;
}

/** Additions that a process has under way at once. */
const atOnce = 32;
const patience: RetryOptions = {
  attempts: 20,
  baseDelayMs: 100,
  maxDelayMs: 1000,
  isRetryable: (error) => error instanceof Problem && error.status === 503,
};

/** Wordings of the same meaning, a different one for each number: its bits choose the capital letters. */
export function wordingsOf(fact: string, number: number): string {
  const ends = ['', '.', '!', ' ...'];
  let bits = Math.floor(number / ends.length);
  const letters = [...fact].map((letter) => {
    if (letter === ' ') return letter;
    const isCapital = bits % 2 === 1;
    bits = Math.floor(bits / 2);
    return isCapital ? letter.toUpperCase() : letter.toLowerCase();
  });
  return `${letters.join('')}${ends[number % ends.length]}`;
}

if (process.argv[2] !== undefined) {
  const orders: AddingOrders = JSON.parse(process.argv[2]);
  const database = await openDatabase({
    url: orders.databaseUrl,
    dataDir: orders.dataDir,
    migrations,
    log: createLog({ level: 'silent' }),
  });
  const db = database.queries<MemoryTables>();
  const embedder = calibrateEmbedder(createBuiltinEmbedder(), db);
  const column = await findVectorColumn(db);
  const deps = {
    db,
    embedder,
    column,
    mergeAbove: 0.9,
    indexes: createEntityIndexes(column, embedder),
    writes: createWrites(),
  } as MemoryContext;
  function* additions() {
    for (let round = orders.firstRound; round <= orders.lastRound; round += 1)
      for (const entity_id of orders.entities)
        for (const fact of orders.facts) yield { entity_id, content: wordingsOf(fact, round) };
  }
  const waiting = additions();
  const client = async () => {
    for (const { entity_id, content } of waiting) {
      const request = {
        entity_id,
        entity_type: 'user',
        content,
        type: 'episodic',
        metadata: undefined,
        said_at: undefined,
        thread_id: undefined,
      } as const;
      // What is refused as too much at once is not acknowledged, and asked for again.
      const { memory } = await retry(() => addMemory(deps, 'server', request), patience);
      process.stdout.write(`${JSON.stringify({ entity_id, content, id: memory.id })}\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  await database.close();
}
