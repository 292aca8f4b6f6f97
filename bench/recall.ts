/**
 * How well `/memory/search` finds on the labelled sets of the repository, against BM25 with stems, MiniSearch, and other
 * embedders (meaning.ts).
 */
import { randomUUID } from 'node:crypto';
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import { bm25, measureRecall, type Search } from '../test/memory/recall.fixture.ts';
import type { Person } from '../test/memory/recall-set.fixture.ts';
import { atLeast, type Bench, skipWithout } from './bench.ts';
import { meaningRows } from './meaning.ts';
import { startMemoryService } from './memoryservice.ts';
import { miniSearch } from './needs.ts';

export const recall: Bench = {
  async *run() {
    const service = await startService();
    try {
      const ours = await measureRecall(service.remembered);
      const stems = await measureRecall(bm25);
      console.error(`  recall@5: ${ours.at5.toFixed(3)} ours, ${stems.at5.toFixed(3)} BM25`);
      const goal = 'recall@5 of /memory/search';
      yield atLeast(1, { goal, measured: ours.at5 / stems.at5, against: 'BM25 with stems' });
      yield (await skipWithout(`${goal}, against MiniSearch`, miniSearch)) ??
        atLeast(1.2, {
          goal,
          measured: ours.at5 / (await measureRecall(await searchByWords())).at5,
          against: 'MiniSearch as it comes',
        });
      yield* await meaningRows();
    } finally {
      await service.close();
    }
  },
};

async function startService() {
  const { post, close } = await startMemoryService(createBuiltinEmbedder());
  const remembered = async ({ memories }: Person): Promise<Search> => {
    const entity = { entity_id: randomUUID(), entity_type: 'user' };
    for (const content of memories) await post('/memory/add', { ...entity, content, type: 'episodic' });
    return async (query, limit) => {
      const { memories: found } = await post('/memory/search', { ...entity, query, limit });
      return found.map(({ content }) => content);
    };
  };
  return { remembered, close };
}

async function searchByWords(): Promise<(person: Person) => Promise<Search>> {
  const { default: MiniSearch } = await import('minisearch');
  return async ({ memories }) => {
    const index = new MiniSearch({ fields: ['content'], storeFields: ['content'] });
    index.addAll(memories.map((content, id) => ({ id, content })));
    return async (question, limit) =>
      index
        .search(question)
        .map(({ content }: { readonly content: string }) => content)
        .slice(0, limit);
  };
}
