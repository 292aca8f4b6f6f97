import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Client,
  type MemoryRig,
  newGroup,
  newUser,
  onEveryDatabase,
  type Refusal,
  startMemory,
} from '../../../test/memory/rig.fixture.ts';
import type { EntityExport } from '../admin/api.ts';
import type { Memory } from '../api.ts';

interface Page {
  readonly memories: readonly Memory[];
  readonly next_cursor: string | null;
}

onEveryDatabase('self-service', (engine) => {
  let rig: MemoryRig;
  let own: { readonly entity_id: string; readonly entity_type: 'user' };
  beforeAll(async () => {
    rig = await startMemory(engine);
    own = { entity_id: rig.userId, entity_type: 'user' };
  });
  afterAll(() => rig.close());

  const add = async (entity: object, content: string, type = 'preference') => {
    const added = await rig.server.send<{ id: string }>('POST', '/memory/add', { ...entity, content, type });
    expect(added.status).toBe(201);
    return added.body.id;
  };
  const list = (client: Client, query: Record<string, string> = {}) =>
    client.send<Page>('GET', `/memories?${new URLSearchParams(query)}`);
  const pathOf = ({ entity_id, entity_type }: { readonly entity_id: string; readonly entity_type: string }) =>
    `/entities/${entity_type}/${encodeURIComponent(entity_id)}`;

  it('lists, shows, exports and erases the user’s memories', async () => {
    const stranger = newUser();
    const foreign = await add(stranger, 'I collect stamps');
    const ids = [
      await add(own, 'I like the smell of rain'),
      await add(own, 'Answer me in short sentences', 'instruction'),
      await add(own, 'My studio is in Lisbon', 'episodic'),
    ];

    expect((await list(rig.user)).body.memories.map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await list(rig.user, own)).body).toEqual((await list(rig.user)).body);
    expect((await list(rig.user, { type: 'instruction' })).body.memories.map(({ id }) => id)).toEqual([ids[1]]);
    const first = await list(rig.user, { limit: '2' });
    const rest = await list(rig.user, { limit: '2', cursor: String(first.body.next_cursor) });
    expect([first.body.memories.length, rest.body.memories.length, rest.body.next_cursor]).toEqual([2, 1, null]);

    const [shown] = first.body.memories;
    expect((await rig.user.send<Memory>('GET', `/memory/${shown?.id}`)).body).toEqual(shown);
    const exported = await rig.user.send<EntityExport>('GET', '/export');
    expect(exported.body).toMatchObject({ ...own, memories: ids.toReversed().map((id) => ({ id })) });

    for (let repeat = 0; repeat < 2; repeat += 1) expect((await rig.user.send('DELETE', pathOf(own))).status).toBe(204);
    expect((await list(rig.user)).body).toEqual({ memories: [], next_cursor: null });
    expect((await rig.user.send('GET', '/export')).status).toBe(404);
    expect((await rig.user.send('GET', `/memory/${ids[0]}`)).status).toBe(404);
    expect((await rig.server.send('GET', `/memory/${foreign}`)).status).toBe(200);
  });

  it('of another user or a group returns 403, and nothing is erased', async () => {
    for (const entity of [newUser(), newGroup()]) {
      const id = await add(entity, 'I like jazz');
      expect((await list(rig.user, entity)).status).toBe(403);
      expect((await rig.user.send('GET', `/export?${new URLSearchParams(entity)}`)).status).toBe(403);
      expect((await rig.user.send('GET', `/memory/${id}`)).status).toBe(403);
      expect((await rig.user.send('DELETE', pathOf(entity))).status).toBe(403);
      expect((await list(rig.server, entity)).body.memories).toMatchObject([{ id }]);
    }
    // The own id as that of a group is not the user.
    expect((await list(rig.user, { ...own, entity_type: 'group' })).status).toBe(403);
  });

  it('is open to servers for every entity that they name', async () => {
    const group = newGroup();
    await add(group, 'We publish on Fridays');
    expect((await list(rig.server, group)).body.memories).toHaveLength(1);
    expect((await rig.server.send('GET', `/export?${new URLSearchParams(group)}`)).status).toBe(200);
    expect((await rig.server.send('DELETE', pathOf(group))).status).toBe(204);
    expect((await list(rig.server, group)).body.memories).toEqual([]);
  });

  it.each([
    ['/memories', 'querystring.entity_id'],
    [`/memories?entity_id=${randomUUID()}`, 'querystring.entity_type'],
    ['/export?entity_type=user', 'querystring.entity_id'],
    ['/memories?entity_type=robot&entity_id=x', 'querystring.entity_type'],
    ['/memories?entity_type=user&entity_id=x&limit=0', 'querystring.limit'],
    ['/memories?entity_type=user&entity_id=x&cursor=garbled', 'querystring.cursor'],
    ['/memories?entity_type=user&entity_id=x&type=dream', 'querystring.type'],
  ])('GET %s with the internal key is 400 for %s', async (path, field) => {
    const { status, body } = await rig.server.send<Refusal>('GET', path);
    expect([status, body.issues?.[0]?.path]).toEqual([400, field]);
  });

  it.each([
    ['GET', '/memories'],
    ['GET', '/memory/x'],
    ['GET', '/export'],
    ['DELETE', '/entities/user/x'],
  ])('%s %s without a credential is 401', async (method, path) => {
    for (const client of [rig.client({}), rig.operator]) expect((await client.send(method, path)).status).toBe(401);
  });
});
