/** A process that adds what it is told to a memory service of its own, line by line, for the tests that kill it. */

import { addMemory } from '#memory/adding.ts';
import { createBuiltinEmbedder } from '#memory/embedding/builtin.ts';
import { createEntityIndexes } from '#memory/entityindex.ts';
import { createEntityQueue } from '#memory/queueing.ts';
import { findVectorColumn, type MemoryTables } from '#memory/store.ts';
import { migrations } from '#migrations.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';

export interface AddingOrders {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly entities: readonly string[];
  /** Each is added once to each entity, wrapped in the variants of `wordingsOf`. */
  readonly facts: readonly string[];
  readonly rounds: number;
}

/** Different wordings that are the same to anybody. */
export function wordingsOf(fact: string, round: number): string {
  const wordings = [fact, `${fact}.`, fact.toUpperCase(), `  ${fact}!`, fact.replace(' ', '  ')];
  return wordings[round % wordings.length] ?? fact;
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
  const embedder = createBuiltinEmbedder();
  const column = await findVectorColumn(db);
  const deps = { db, embedder, column, indexes: createEntityIndexes(column, embedder), queue: createEntityQueue() };
  const work: Promise<void>[] = [];
  for (let round = 0; round < orders.rounds; round += 1) {
    for (const entity_id of orders.entities) {
      for (const fact of orders.facts) {
        const content = wordingsOf(fact, round);
        const request = { entity_id, entity_type: 'user', content, type: 'episodic', metadata: undefined } as const;
        work.push(
          addMemory(deps, 'server', request).then(({ memory }) => {
            process.stdout.write(`${JSON.stringify({ entity_id, content, id: memory.id })}\n`);
          }),
        );
        if (work.length >= 64) await Promise.all(work.splice(0));
      }
    }
  }
  await Promise.all(work);
  await database.close();
}
