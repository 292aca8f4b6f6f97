/** As money.test.ts, with a program that is killed. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openWorld, play, type World } from './money.fixture.ts';

describe('random orders of a program that is killed', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it.each([11, 12, 13, 14])(
    'leave ledger, usage, library and orders in agreement (seed %i)',
    { timeout: 300_000 },
    async (seed) => {
      await play(world, { seed, orders: 20, killsAfter: [4, 11] });
    },
  );
});
