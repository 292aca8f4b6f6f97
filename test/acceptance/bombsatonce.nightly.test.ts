/** Small images that take much memory, sent to the running program at once: it grows by less than 512 MiB. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bombed, interlacedPng, openBombed } from './mediabombs.fixture.ts';
import { growthOf } from './resident.fixture.ts';

describe.skipIf(process.platform !== 'linux')('bombs at once', () => {
  let bombed: Bombed;
  beforeAll(async () => {
    bombed = await openBombed();
  }, 120_000);
  afterAll(() => bombed?.close());

  it('are decoded within 512 MiB, or refused', { timeout: 120_000 }, async () => {
    const [png, larger] = [interlacedPng(4900, 4900), interlacedPng(7071, 7071)];
    const statuses: number[] = [];
    const send = async (bytes: Buffer) => {
      statuses.push((await bombed.register(new Uint8Array(bytes), 'image/png')).status);
    };
    const growth = await growthOf(bombed.program, () => Promise.all([png, larger, png, png].map(send)));
    expect(statuses.sort()).toEqual([201, 201, 201, 422]);
    expect(growth / 1024 ** 2).toBeLessThan(512);
    expect(await bombed.isReady()).toBe(true);
  });
});
