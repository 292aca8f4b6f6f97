import { afterAll, beforeAll, expect, it } from 'vitest';
import { bm25, measureRecall, rawWords } from '../../../test/memory/recall.fixture.ts';
import { type Person, people } from '../../../test/memory/recall-set.fixture.ts';
import { type MemoryRig, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { SearchResult } from '../api.ts';

onEveryDatabase('what is found', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  async function remembered({ memories }: Person) {
    const user = newUser();
    for (const content of memories) {
      const { status } = await rig.server.send('POST', '/memory/add', { ...user, content, type: 'episodic' });
      expect(status).toBe(201);
    }
    return async (query: string, limit: number) => {
      const request = { ...user, query, limit };
      const { body } = await rig.server.send<SearchResult>('POST', '/memory/search', request);
      return body.memories.map(({ content }) => content);
    };
  }

  it('is at least that of BM25 with stems, and clearly above exact words', {
    timeout: 120_000,
  }, async () => {
    expect(people.flatMap(({ memories }) => memories)).toHaveLength(300);
    expect(people.flatMap(({ questions }) => questions)).toHaveLength(150);
    const [ours, stems, words] = [
      await measureRecall(remembered),
      await measureRecall(bm25),
      await measureRecall(rawWords),
    ];
    expect(ours.at5).toBeGreaterThanOrEqual(stems.at5);
    expect(ours.at10).toBeGreaterThanOrEqual(stems.at10);
    expect(ours.mrr).toBeGreaterThanOrEqual(stems.mrr);
    expect(ours.at5).toBeGreaterThanOrEqual(1.2 * words.at5);
  });
});
