import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { laneEngines } from '../../../test/database.fixture.ts';
import { type MemoryRig, newUser, startMemory, testInternalKey } from '../../../test/memory/rig.fixture.ts';
import { createBuiltinEmbedder } from '../embedding/builtin.ts';

const builtin = createBuiltinEmbedder();
const { promise: opened, resolve: open } = Promise.withResolvers<void>();
/** Queries that the embedder holds back until `open`. */
let held = 0;

let rig: MemoryRig;
beforeAll(async () => {
  const [engine] = laneEngines;
  if (engine === undefined) throw new Error('there is always an engine');
  const embedQuery = async (text: string) => {
    held += 1;
    await opened;
    return builtin.embedQuery(text);
  };
  rig = await startMemory(engine, { embedder: { ...builtin, embedQuery } });
});
afterAll(() => {
  open();
  return rig.close();
});

it('searches of one user wait for each other, and never for those of other users or servers', async () => {
  const [hostile, other] = [newUser(), newUser()];
  for (const user of [hostile, other])
    await rig.server.send('POST', '/memory/add', { ...user, content: 'I like bees', type: 'preference' });
  const as = (userId: string) => rig.client({ 'x-internal-key': testInternalKey, 'x-on-behalf-of': userId });
  const search = async (user: typeof hostile, path = '/memory/search', client = as(user.entity_id)) =>
    (await client.send('POST', path, { ...user, query: `bees ${randomUUID()}` })).status;
  const statuses: number[] = [];
  const searches = Array.from({ length: 109 }, async (_, index) => {
    statuses.push(await search(hostile, index % 2 === 0 ? '/memory/search' : '/inject'));
  });
  // Eight are searched and 100 wait.
  await expect.poll(() => statuses).toEqual([429]);
  await expect.poll(() => held).toBe(8);
  const others = [search(other), search(hostile, '/memory/search', rig.server)];
  await expect.poll(() => held).toBe(10);
  open();
  await Promise.all(searches);
  expect(statuses).toEqual([429, ...Array.from({ length: 108 }, () => 200)]);
  expect(await Promise.all(others)).toEqual([200, 200]);
});
