/** What one entity can hold, and what still works when it is full. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type MemoryRig,
  newUser,
  onEveryDatabase,
  type Refusal,
  startMemory,
} from '../../../test/memory/rig.fixture.ts';
import type { MemoryHistory } from '../admin/api.ts';
import type { SearchResult } from '../api.ts';
import type { MemoryTables } from '../tables.ts';

type Entity = ReturnType<typeof newUser>;
type Added = { readonly id: string; readonly deduplicated: boolean } & Partial<Refusal>;

const most = { memories: 10_000, bytes: 16 * 1024 * 1024 };

onEveryDatabase('an entity that is nearly full', (engine) => {
  let rig: MemoryRig;
  let other: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
    other = await startMemory(engine, { database: rig.database });
  });
  afterAll(async () => {
    await other.close();
    await rig.close();
  });

  const add = async (entity: Entity, content: string, more: object = {}, from = rig) => {
    for (;;) {
      const payload = { ...entity, content, type: 'workflow', ...more };
      const answer = await from.server.send<Added>('POST', '/memory/add', payload);
      // A busy machine: nothing is written, and the caller is to try again.
      if (answer.status !== 503) return answer;
    }
  };
  const edit = (id: string, content: string) =>
    rig.server.send<{ content: string } & Partial<Refusal>>('PUT', `/memory/${id}`, { content });
  const counted = async ({ entity_id }: Entity) => {
    const db = rig.database.queries<MemoryTables>();
    const { rows } = await sql`
      select memory_count::int as memories, memory_bytes::int as bytes,
        (select count(*)::int from memories where entity_id = ${entity_id}) as rows,
        (select sum(bytes)::int from memories where entity_id = ${entity_id}) as held
      from memory_entities where entity_id = ${entity_id}`.execute(db);
    return rows[0];
  };

  /** Copies of one memory, of another type and so many bytes each. */
  async function fill(entity: Entity, copies: number, bytes: number): Promise<void> {
    expect((await add(entity, 'A lantern hangs in the boathouse')).status).toBe(201);
    const db = rig.database.queries<MemoryTables>();
    const content = 'Ä'.repeat(bytes / 2);
    await sql`
      insert into memories (entity_type, entity_id, type, content, content_hash, metadata, embedder, version, embedding, bytes)
      select entity_type, entity_id, 'episodic', ${content}, sha256(copy::text::bytea), '{}', embedder, version, embedding,
        octet_length(${content}::text)
      from memories, generate_series(1, ${copies}::int) as copy where entity_id = ${entity.entity_id}`.execute(db);
    await sql`
      update memory_entities set memory_count = memory_count + ${copies}, memory_bytes = memory_bytes + ${copies * bytes}::int
      where entity_id = ${entity.entity_id}`.execute(db);
  }

  it('accepts exactly as many concurrent additions of two processes as fit', { timeout: 400_000 }, async () => {
    const user = newUser();
    await fill(user, most.memories - 6, 20);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, place) =>
        add(user, `Step ${place} of the route`, {}, place % 2 === 0 ? rig : other),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error}`))).toEqual(new Set(['409 memory_full']));
    expect(await counted(user)).toMatchObject({ memories: most.memories, rows: most.memories });

    // A merge needs no room, a deletion makes room, and a search finds what is stored.
    const merged = await add(user, 'a lantern  hangs in the BOATHOUSE!', { metadata: { said: 'twice' } });
    expect([merged.status, merged.body.deduplicated]).toEqual([200, true]);
    expect((await edit(merged.body.id, 'Two lanterns hang in the boathouse')).status).toBe(200);
    const query = { ...user, query: 'lanterns boathouse', limit: 5, type_filter: 'workflow' };
    const found = async () =>
      (await other.server.send<SearchResult>('POST', '/memory/search', query)).body.memories.map(({ id }) => id);
    expect(await found()).toContain(merged.body.id);
    expect((await rig.server.send('DELETE', `/memory/${merged.body.id}`)).status).toBe(204);
    expect(await found()).not.toContain(merged.body.id);
    expect((await add(user, 'The ferry leaves at dawn')).status).toBe(201);
    expect((await add(user, 'The baker opens at six')).body.error).toBe('memory_full');
  });

  it('contains at most 16 MiB of contents and metadata, to the byte', async () => {
    const user = newUser();
    const own = Buffer.byteLength('A lantern hangs in the boathouse');
    await fill(user, 511, 32_768);
    const left = most.bytes - 511 * 32_768 - own;
    const metadata = { note: 'x'.repeat(100) };
    const metadataBytes = Buffer.byteLength(JSON.stringify(metadata));
    const content = 'The quay is long '.padEnd(left - metadataBytes, 'q');
    expect((await add(user, `${content}q`, { metadata })).body.error).toBe('memory_full');
    const { status, body } = await add(user, content, { metadata });
    expect(status).toBe(201);
    expect(await counted(user)).toMatchObject({ bytes: most.bytes, held: most.bytes });
    expect((await add(user, 'x')).body.error).toBe('memory_full');
    expect((await edit(body.id, `${content}q`)).body.error).toBe('memory_full');

    // A merge without room: the existing memory survives, and the history has the incoming content.
    const longer = 'A lantern   hangs in the boathouse.';
    const merged = await add(user, longer, { metadata });
    expect([merged.status, merged.body.deduplicated]).toEqual([200, true]);
    const path = `/admin/memories/${merged.body.id}`;
    expect((await rig.operator.send<{ content: string; metadata: object }>('GET', path)).body).toMatchObject({
      content: 'A lantern hangs in the boathouse',
      metadata: {},
    });
    const { history } = (await rig.operator.send<MemoryHistory>('GET', `${path}/history`)).body;
    expect(history[0]).toMatchObject({ action: 'merge', incoming: { content: longer, metadata } });
    expect(await counted(user)).toMatchObject({ bytes: most.bytes, held: most.bytes });

    expect((await edit(body.id, 'The quay is long')).status).toBe(200);
    expect((await add(user, longer, { metadata })).status).toBe(200);
    expect((await rig.operator.send<{ content: string }>('GET', path)).body).toMatchObject({
      content: longer,
      metadata,
    });
    expect((await rig.operator.send('POST', `/admin/memories/${body.id}/undo`)).status).toBe(200);
    const { bytes, held } = (await counted(user)) as { bytes: number; held: number };
    expect(bytes).toBe(held);

    expect((await rig.operator.send('DELETE', `/admin/entities/user/${user.entity_id}`)).status).toBe(204);
    expect((await add(user, 'A lantern hangs in the boathouse')).status).toBe(201);
    expect(await counted(user)).toMatchObject({ memories: 1, bytes: own });
  });
});
