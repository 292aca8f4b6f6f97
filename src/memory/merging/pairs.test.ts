import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapConcurrently } from '#platform/concurrency.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import { differentPairs, samePairs } from '../../../test/memory/more-pairs.fixture.ts';
import { pairs } from '../../../test/memory/pairs.fixture.ts';
import { type MemoryRig, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { AdminMemory, MemoryPage } from '../admin/api.ts';

onEveryDatabase('what is one memory and what is two', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  async function addBoth(first: string, second: string): Promise<readonly AdminMemory[]> {
    const user = newUser();
    for (const content of [first, second]) {
      const { status } = await rig.server.send('POST', '/memory/add', { ...user, content, type: 'preference' });
      expect([200, 201]).toContain(status);
    }
    const listed = await rig.operator.send<MemoryPage>('GET', `/admin/memories?entity_id=${user.entity_id}`);
    return listed.body.memories;
  }

  describe.each(everyNth([1, -1], 2))('in order %d', (order) => {
    it.each(everyNth(pairs, 2))('$outcome: $first | $second', async ({ outcome, first, second }) => {
      const ordered = order === 1 ? ([first, second] as const) : ([second, first] as const);
      const [newer, older] = await addBoth(...ordered);
      if (outcome === 'merge') {
        expect(older).toBeUndefined();
        return;
      }
      expect([newer?.content, older?.content]).toEqual([ordered[1], ordered[0]]);
      if (outcome !== 'conflict') return;
      expect(newer?.links).toEqual([{ id: older?.id, kind: 'conflict' }]);
      expect(older?.links).toEqual([{ id: newer?.id, kind: 'conflict' }]);
    });
  });

  it('pairs that no rule was written for: none is merged wrongly, more than half of the same are found', async () => {
    const isMerged = async ([first, second]: readonly [string, string]) => (await addBoth(first, second)).length === 1;
    const wrong = await mapConcurrently(everyNth(differentPairs, 3), 10, async (pair) =>
      (await isMerged(pair)) ? [pair] : [],
    );
    expect(wrong.flat()).toEqual([]);
    const found = await mapConcurrently(everyNth(samePairs, 3), 10, isMerged);
    expect(found.filter(Boolean).length / found.length).toBeGreaterThan(0.5);
    expect(pairs.length + samePairs.length + differentPairs.length).toBeGreaterThanOrEqual(300);
  });
});
