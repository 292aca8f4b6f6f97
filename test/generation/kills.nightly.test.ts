/** The program is killed before each step of a generation: nothing is ordered twice, lost or charged wrongly. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { type Makers, makersKey, startMakers } from './makers.fixture.ts';
import { startingCredits, type UserState } from './making.child.ts';

const program = join(import.meta.dirname, 'making.child.ts');
const prices = { image: 2, video: 40 };

onEveryDatabase('a process killed while it makes', (rig) => {
  let makers: Makers;
  beforeAll(async () => {
    makers = await startMakers();
  });
  afterAll(() => makers.close());

  it.each(['image', 'video'] as const)('a generation: %s', { timeout: 3_600_000 }, async (kind) => {
    const provider = { url: makers.baseUrls.openai, apiKey: makersKey };
    const path = `/${kind}s`;
    const count = kind === 'image' ? 2 : 1;
    const prepare = async () => randomUUID();
    const place = (userId: string, killAt: number) =>
      rig.run(program, {
        ...{ killAt, provider, users: [] },
        order: { userId, path, body: { prompt: userId, ...(kind === 'image' && { n: count }) } },
      });
    const { killed, lived, outcomes } = await rig.killAtSteps(prepare, place);
    expect(new Set(outcomes)).toEqual(new Set(['201']));
    const users = [...killed, ...lived];
    const end = await rig.run(program, { killAt: 0, provider, users });
    const states: readonly UserState[] = JSON.parse(String(end?.outcome));
    const found = states.map(({ generations, ...state }, index) => {
      const [generation, ...more] = generations;
      const items = generation?.items ?? [];
      const delivered = items.filter(({ status }) => status === 'completed');
      const ordered = makers.orders.filter(({ prompt }) => prompt === users[index]).length;
      const charged = delivered.length * prices[kind];
      const files = `${kind}s` as const;
      return {
        user: users[index],
        more,
        // A kill before the commit of an order leaves none.
        status: generation?.status ?? 'failed',
        items: items.length === 0 ? [] : items.map(({ status }) => status),
        isOrderedTwice: ordered > items.length,
        hasUnorderedResult: delivered.length > ordered,
        ...{ delivered: delivered.map(({ assetId }) => assetId).sort(), assets: [...state.assets].sort() },
        balance: state.balance,
        usage: state.usage.reduce((sum, day) => [(sum[0] ?? 0) + day[files], (sum[1] ?? 0) + day.credits], [0, 0]),
        credits: generation?.credits ?? 0,
        reserved: state.reserved,
        published: state.published,
        expected: {
          status: delivered.length > 0 ? 'completed' : 'failed',
          balance: startingCredits - charged,
          usage: [delivered.length, charged],
          credits: charged,
          published: generation === undefined ? [] : [generation.id],
        },
      };
    });
    for (const one of found) {
      expect(one).toMatchObject({ ...one.expected, more: [], isOrderedTwice: false, hasUnorderedResult: false });
      expect(one).toMatchObject({ reserved: 0, assets: one.delivered });
    }
    expect(found.slice(killed.length).map(({ status }) => status)).toEqual(lived.map(() => 'completed'));
    // Videos continue at the next process; both ends occur.
    expect(new Set(found.map(({ status }) => status))).toEqual(new Set(['failed', 'completed']));
  });
});
