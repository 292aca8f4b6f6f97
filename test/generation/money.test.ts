/** Money agrees with the library and the providers, whatever happens to orders. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { everyNth } from '../lane.fixture.ts';
import { openWorld, play, type World } from './money.fixture.ts';

describe('random orders, failures and cancellations', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it.each(everyNth([1, 2, 3], 3))(
    'leave ledger, usage, library and orders in agreement (seed %i)',
    { timeout: 180_000 },
    async (seed) => {
      await play(world, { seed, orders: 15, killsAfter: [] });
    },
  );
});
