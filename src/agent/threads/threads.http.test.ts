/** Threads as their owner sees them: the list, the search, titles, and messages page by page. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentRig, type Chatter, type Message, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { onEveryPair } from '../../../test/media/rig.fixture.ts';
import type { ThreadInfo } from '../api.ts';

interface Page {
  readonly threads: readonly ThreadInfo[];
  readonly next_cursor: string | null;
}

interface Refusal {
  readonly error: string;
  readonly issues?: readonly { readonly path: string }[];
}

onEveryPair('threads', (pair) => {
  let rig: AgentRig;
  let user: Chatter;
  let stranger: Chatter;
  beforeAll(async () => {
    rig = await startAgent(pair, { pace: { emptyTrashEveryMs: 200 } });
    user = await rig.user();
    stranger = await rig.user();
  });
  afterAll(() => rig.close());

  const say = async (chatter: Chatter, threadId: string, text: string) =>
    chatter.ended(await chatter.ask(threadId, text));
  const list = async (chatter: Chatter, query = '') => (await chatter.call<Page>('GET', `/threads${query}`)).body;
  const read = (chatter: Chatter, threadId: string) => chatter.call<ThreadInfo>('GET', `/threads/${threadId}`);
  const rename = (chatter: Chatter, threadId: string, title: unknown, query = '') =>
    chatter.call<ThreadInfo>('PATCH', `/threads/${threadId}${query}`, { title });
  const idsOf = ({ threads }: Page) => threads.map(({ threadId }) => threadId);

  describe('the trash', () => {
    const move = (chatter: Chatter, threadId: string, trashed: unknown) =>
      chatter.call<ThreadInfo>('PATCH', `/threads/${threadId}`, { trashed });

    it('takes a thread from the list and the search, keeps its messages, and gives it back', async () => {
      const owner = await rig.user();
      const [threadId, other] = [newThread(), newThread()];
      await say(owner, threadId, 'Tell me about bees');
      await say(owner, other, 'And about wasps');
      const { status, body } = await move(owner, threadId, true);
      expect([status, typeof body.trashedAt]).toEqual([200, 'string']);
      expect([idsOf(await list(owner)), idsOf(await list(owner, '?q=bees'))]).toEqual([[other], []]);
      expect(idsOf(await list(owner, '?trashed=true'))).toEqual([threadId]);
      expect((await owner.messages(threadId)).length).toBe(2);
      const again = await move(owner, threadId, true);
      expect([again.status, again.body.trashedAt]).toEqual([200, body.trashedAt]);
      expect((await move(owner, threadId, false)).body.trashedAt).toBeNull();
      expect(idsOf(await list(owner))).toEqual([other, threadId]);
      expect(idsOf(await list(owner, '?trashed=true'))).toEqual([]);
    });

    it('gives back a thread that gets another message', async () => {
      const owner = await rig.user();
      const threadId = newThread();
      await say(owner, threadId, 'hi');
      await move(owner, threadId, true);
      await say(owner, threadId, 'More');
      expect(idsOf(await list(owner))).toEqual([threadId]);
      expect((await read(owner, threadId)).body.trashedAt).toBeNull();
    });

    it('is the owner’s alone, and DELETE deletes from it for good', async () => {
      const owner = await rig.user();
      const threadId = newThread();
      await say(owner, threadId, 'hi');
      expect((await move(stranger, threadId, true)).status).toBe(403);
      expect((await move(owner, newThread(), true)).status).toBe(404);
      expect((await move(owner, threadId, 'yes')).status).toBe(400);
      expect((await owner.call('PATCH', `/threads/${threadId}`, {})).status).toBe(400);
      expect((await owner.call('GET', '/threads?trashed=true&q=hi')).status).toBe(400);
      await move(owner, threadId, true);
      expect((await owner.call('DELETE', `/threads/${threadId}`)).status).toBe(204);
      expect(idsOf(await list(owner, '?trashed=true'))).toEqual([]);
    });

    it('deletes after 30 days, and not before', async () => {
      const owner = await rig.user();
      const [old, young] = [newThread(), newThread()];
      for (const threadId of [old, young]) {
        await say(owner, threadId, 'hi');
        await move(owner, threadId, true);
      }
      await sql`
        update agent_threads
        set trashed_at = now() - make_interval(hours => case when thread_id = ${old} then 721 else 719 end)
        where thread_id in (${old}, ${young})`.execute(rig.media.database.queries());
      await expect.poll(() => list(owner, '?trashed=true').then(idsOf)).toEqual([young]);
      expect((await read(owner, old)).status).toBe(404);
      await expect.poll(() => owner.messages(old)).toEqual([]);
      expect((await owner.messages(young)).length).toBe(2);
    });
  });

  describe('a temporary thread', () => {
    const begin = async (chatter: Chatter, threadId: string, temporary: unknown, text = 'Tell me about newts') => {
      const answer = await chatter.call<{ taskId?: string } & Refusal>('POST', '/task', { threadId, text, temporary });
      if (answer.status === 201) await chatter.ended(String(answer.body.taskId));
      return answer;
    };

    it('is in no listing or search, and its owner reads it', async () => {
      const owner = await rig.user();
      const [threadId, other] = [newThread(), newThread()];
      expect((await begin(owner, threadId, true)).status).toBe(201);
      expect((await begin(owner, other, false)).status).toBe(201);
      for (const query of ['', '?q=newts']) expect(idsOf(await list(owner, query))).toEqual([other]);
      expect((await owner.call('PATCH', `/threads/${threadId}`, { trashed: true })).status).toBe(200);
      expect(idsOf(await list(owner, '?trashed=true'))).toEqual([]);
      expect((await read(owner, threadId)).body).toMatchObject({ threadId, temporary: true, messageCount: 2 });
      expect((await read(owner, other)).body).not.toHaveProperty('temporary');
      const current = (id: string) => owner.call('GET', `/thread/${id}/current-task`);
      expect((await current(threadId)).body).toEqual({ task: null, temporary: true });
      // Its owner can keep it. Then it is in the list, as any other.
      const keep = (chatter: Chatter, temporary: unknown) =>
        chatter.call('PATCH', `/threads/${threadId}`, { temporary, trashed: false });
      expect([(await keep(stranger, false)).status, (await keep(owner, true)).status]).toEqual([403, 400]);
      for (let time = 0; time < 2; time++) {
        const kept = await keep(owner, false);
        expect([kept.status, kept.body]).toEqual([200, expect.not.objectContaining({ temporary: true })]);
      }
      expect((await current(threadId)).body).toEqual({ task: null });
      expect(idsOf(await list(owner, '?q=newts'))).toContain(threadId);
      expect((await current(other)).body).toEqual({ task: null });
      expect((await read(stranger, threadId)).status).toBe(403);
      expect((await begin(stranger, threadId, true)).status).toBe(403);
    });

    it('stays as it was begun, and another value is refused by name', async () => {
      const owner = await rig.user();
      const [temporary, ordinary] = [newThread(), newThread()];
      await begin(owner, temporary, true);
      await begin(owner, ordinary, undefined);
      for (const [threadId, wrong, right] of [
        [temporary, false, true],
        [ordinary, true, false],
      ] as const) {
        const refused = await begin(owner, threadId, wrong);
        expect([refused.status, refused.body.issues?.[0]?.path]).toEqual([400, 'body.temporary']);
        const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hi' }] };
        const chat = await owner.call<Refusal>('POST', '/chat', {
          id: threadId,
          messages: [message],
          temporary: wrong,
        });
        expect([chat.status, chat.body.issues?.[0]?.path]).toEqual([400, 'body.temporary']);
        for (const value of [right, null, undefined]) expect((await begin(owner, threadId, value)).status).toBe(201);
        expect((await read(owner, threadId)).body).toMatchObject({ messageCount: 8 });
      }
      const malformed = await begin(owner, newThread(), 'yes');
      expect([malformed.status, malformed.body.issues?.[0]?.path]).toEqual([400, 'body.temporary']);
    });

    it('that two requests begin differently at once is what the first of them says', async () => {
      const owner = await rig.user();
      for (let round = 0; round < 4; round += 1) {
        const threadId = newThread();
        const answers = await Promise.all([true, false].map((temporary) => begin(owner, threadId, temporary)));
        const statuses = answers.map(({ status }) => status);
        expect(statuses.toSorted()).toEqual([201, 400]);
        const isTemporary = (await read(owner, threadId)).body.temporary ?? false;
        expect(statuses[0] === 201).toBe(isTemporary);
        expect(idsOf(await list(owner)).includes(threadId)).toBe(!isTemporary);
      }
    });

    it('is deleted 24 hours after its last message, and not before', async () => {
      const owner = await rig.user();
      const [old, young, ordinary] = [newThread(), newThread(), newThread()];
      for (const threadId of [old, young]) await begin(owner, threadId, true);
      await begin(owner, ordinary, undefined);
      await sql`
        update agent_threads
        set updated_at = now() - make_interval(hours => 24, mins => case when thread_id = ${young} then -5 else 5 end)
        where thread_id in (${old}, ${young}, ${ordinary})`.execute(rig.media.database.queries());
      await expect.poll(async () => (await read(owner, old)).status).toBe(404);
      await expect.poll(() => owner.messages(old)).toEqual([]);
      expect((await owner.messages(young)).length).toBe(2);
      expect(idsOf(await list(owner))).toEqual([ordinary]);
      // The id begins again as either kind once the thread is removed.
      const statuses: number[] = [];
      await expect
        .poll(async () => statuses.push((await begin(owner, old, false)).status) && statuses.at(-1))
        .toBe(201);
      expect(statuses.slice(0, -1).filter((status) => status !== 409)).toEqual([]);
      expect(idsOf(await list(owner)).toSorted()).toEqual([old, ordinary].toSorted());
    });
  });

  describe('GET /threads', () => {
    it('lists the threads of the caller, the one with the newest message first', async () => {
      const owner = await rig.user();
      expect(await list(owner)).toEqual({ threads: [], next_cursor: null });
      const [first, second] = [newThread(), newThread()];
      await say(owner, first, '  Tell me\nabout bees ');
      await say(owner, second, 'And about wasps');
      expect(idsOf(await list(owner))).toEqual([second, first]);
      await say(owner, first, 'More of that');
      const { threads } = await list(owner);
      expect(threads[0]).toEqual({
        threadId: first,
        title: 'Tell me about bees',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        messageCount: 4,
        runningTaskId: null,
        trashedAt: null,
      });
      expect(Date.parse(threads[0]?.updatedAt ?? '')).toBeGreaterThan(Date.parse(threads[1]?.updatedAt ?? ''));
      expect(idsOf(await list(stranger))).toEqual([]);
    });

    it('shows the run in progress', async () => {
      const threadId = newThread();
      const taskId = await user.ask(threadId, '/slow 60');
      expect((await read(user, threadId)).body).toMatchObject({ runningTaskId: taskId, messageCount: 1 });
      await user.call('DELETE', `/task/${taskId}`);
      await user.ended(taskId);
      expect((await read(user, threadId)).body.runningTaskId).toBeNull();
    });

    it('pages without a gap or a repetition', async () => {
      const owner = await rig.user();
      const ids = Array.from({ length: 5 }, newThread);
      for (const threadId of ids) await say(owner, threadId, 'hi');
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Page = await list(owner, `?limit=2${cursor && `&cursor=${cursor}`}`);
        expect(page.threads.length).toBeLessThanOrEqual(2);
        seen.push(...idsOf(page));
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(ids.toReversed());
    });

    it('finds words in titles and in the texts of questions and answers, in any case', async () => {
      const owner = await rig.user();
      const [bees, named] = [newThread(), newThread()];
      await say(owner, bees, 'Wie viele Bienen gibt es in ŁÓDŹ? 蜜蜂很多');
      await say(owner, named, 'hello');
      await rename(owner, named, 'Größe der Wale');
      const found = async (q: string) => idsOf(await list(owner, `?q=${encodeURIComponent(q)}`));
      expect(await found('bienen')).toEqual([bees]);
      expect(await found('łódź BIENEN')).toEqual([bees]);
      expect(await found('蜜蜂')).toEqual([bees]);
      expect(await found('GRÖSSE')).toEqual([]);
      expect(await found('größe')).toEqual([named]);
      expect(await found('bienen wale')).toEqual([]);
      expect(await found('100%')).toEqual([]);
      expect(await found('_')).toEqual([]);
      expect(await found('  ')).toEqual([named, bees]);
    });

    it.each([
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=x', 'limit'],
      ['limit=1e1', 'limit'],
      ['limit=0x10', 'limit'],
      ['limit=2.0', 'limit'],
      ['limit=%202', 'limit'],
      ['cursor=x', 'cursor'],
      [`cursor=${Buffer.from('1 a b').toString('base64url')}`, 'cursor'],
      [`q=${'a'.repeat(201)}`, 'q'],
      [`q=${encodeURIComponent('a b c d e f g h i j k')}`, 'q'],
      ['q=%00', 'q'],
    ])('returns 400 for %s and names the field', async (query, field) => {
      const { status, body } = await user.call<Refusal>('GET', `/threads?${query}`);
      expect([status, body.issues?.[0]?.path]).toEqual([400, `querystring.${field}`]);
    });
  });

  describe('PATCH /threads/:threadId', () => {
    it('sets a title without a change of the order', async () => {
      const owner = await rig.user();
      const [first, second] = [newThread(), newThread()];
      await say(owner, first, 'one');
      await say(owner, second, 'two');
      const { status, body } = await rename(owner, first, '  My bees ');
      expect([status, body.threadId, body.title, body.messageCount]).toEqual([200, first, 'My bees', 2]);
      expect(idsOf(await list(owner))).toEqual([second, first]);
      await owner.ended(String((await owner.call('POST', '/task', { threadId: first, text: 'more' })).body.taskId));
      expect((await read(owner, first)).body.title).toBe('My bees');
    });

    it.each([undefined, '', '  ', 5, null, 'a'.repeat(201), 'a\0b'])('returns 400 for the title %j', async (title) => {
      const threadId = newThread();
      await say(user, threadId, 'hi');
      const { status, body } = await user.call<Refusal>('PATCH', `/threads/${threadId}`, { title });
      expect([status, body.issues?.[0]?.path]).toEqual([400, 'body.title']);
    });
  });

  describe('the first title', () => {
    it('is the first words of the first message, cut between words', async () => {
      const threadId = newThread();
      const text = 'one two three four five six seven eight nine ten eleven twelve thirteen';
      await say(user, threadId, text);
      const { title } = (await read(user, threadId)).body;
      expect(title).toBe('one two three four five six seven eight nine ten eleven');
    });

    it('is there while the first answer is written', async () => {
      const threadId = newThread();
      const taskId = await user.ask(threadId, '/slow 60');
      expect((await read(user, threadId)).body.title).toBe('/slow 60');
      await user.call('DELETE', `/task/${taskId}`);
      await user.ended(taskId);
    });

    it('is the name of the file if the message has no text', async () => {
      const threadId = newThread();
      const part = {
        type: 'file',
        mediaType: 'text/plain',
        filename: 'notes.txt',
        url: 'https://example.com/notes.txt',
      };
      const message = { role: 'user', parts: [part] };
      const { body } = await user.call('POST', '/task', { threadId, message });
      await user.ended(String(body.taskId));
      expect((await read(user, threadId)).body.title).toBe('notes.txt');
    });

    it('follows a first message that is edited, unless the user has set a title', async () => {
      const threadId = newThread();
      const edit = async (text: string) => {
        const [first] = await user.messages(threadId);
        const { body } = await user.call('POST', '/task', { threadId, text, rewindTo: first?.id });
        await user.ended(String(body.taskId));
        return (await read(user, threadId)).body.title;
      };
      await say(user, threadId, 'About bees');
      await say(user, threadId, 'And more');
      expect(await edit('About wasps')).toBe('About wasps');
      await rename(user, threadId, 'Mine');
      expect(await edit('About ants')).toBe('Mine');
    });
  });

  describe('rights', () => {
    it('another user gets 403, and an unknown thread is 404', async () => {
      const threadId = newThread();
      await say(user, threadId, 'hi');
      const statuses = async (chatter: Chatter, id: string, query = '') => [
        (await chatter.call('GET', `/threads/${id}${query}`)).status,
        (await rename(chatter, id, 'mine', query)).status,
        (await chatter.call('DELETE', `/threads/${id}${query}`)).status,
      ];
      expect(await statuses(stranger, threadId)).toEqual([403, 403, 403]);
      expect(await statuses(rig.server, threadId, `?userId=${stranger.userId}`)).toEqual([403, 403, 403]);
      expect(await statuses(user, newThread())).toEqual([404, 404, 404]);
      expect(await statuses(user, 'a.b')).toEqual([400, 400, 400]);
      expect(await statuses(rig.server, threadId, '?userId=x')).toEqual([400, 400, 400]);
      expect((await read(user, threadId)).body.title).toBe('hi');
    });

    it('a server names the user', async () => {
      const owner = await rig.user();
      const threadId = newThread();
      await say(owner, threadId, 'hi');
      const query = `?userId=${owner.userId.toUpperCase()}`;
      expect(idsOf(await list(rig.server, query))).toEqual([threadId]);
      expect((await rig.server.call('GET', '/threads')).status).toBe(400);
      expect((await rig.server.call('DELETE', '/threads')).status).toBe(400);
      expect((await rename(rig.server, threadId, 'one', query)).body.title).toBe('one');
      const named = await rig.server.call('PATCH', `/threads/${threadId}`, { title: 'two', userId: owner.userId });
      expect([named.status, named.body.title]).toEqual([200, 'two']);
      const foreign = { title: 'three', userId: stranger.userId };
      expect((await rig.server.call('PATCH', `/threads/${threadId}`, foreign)).status).toBe(403);
      const foreignQuery = `?userId=${stranger.userId}`;
      for (const path of [`/messages/${threadId}`, `/thread/${threadId}/current-task`])
        expect((await rig.server.call('GET', path + foreignQuery)).status).toBe(403);
      // With a token, `userId` is an unknown field.
      expect((await user.call('GET', `/threads?userId=${owner.userId}`)).status).toBe(200);
      expect(idsOf(await list(stranger, query))).toEqual([]);
    });

    it.each([
      ['GET', '/threads'],
      ['DELETE', '/threads'],
      ['GET', '/threads/x'],
      ['PATCH', '/threads/x'],
      ['DELETE', '/threads/x'],
    ])('%s %s without a credential is 401', async (method, path) => {
      const nobody = rig.at(rig.url, { ...user, credential: {} });
      expect((await nobody.call(method, path, method === 'PATCH' ? '{' : undefined)).status).toBe(401);
    });
  });

  describe('GET /messages by pages', () => {
    const threadId = newThread();
    let all: readonly Message[];
    beforeAll(async () => {
      for (const text of ['one', 'two', 'three']) await say(user, threadId, text);
      all = await user.messages(threadId);
    });
    const page = async (query: string) => {
      const { status, body, headers } = await user.call<{ messages: Message[] } & Refusal>(
        'GET',
        `/messages/${threadId}?${query}`,
      );
      const ids = body.messages?.map(({ id }) => id);
      return { status, ids, nextBefore: headers.get('x-next-before'), issues: body.issues };
    };
    const idOf = (index: number) => all.at(index)?.id ?? '';

    it('every message has its creation time', () => {
      const times = all.map(({ metadata }) => String(metadata.createdAt));
      for (const time of times) expect(new Date(time).toISOString()).toBe(time);
      expect(times.toSorted()).toEqual(times);
      expect(Math.abs(Date.parse(times[0] ?? '') - Date.now())).toBeLessThan(600_000);
    });

    it('begins with the newest, and continues before the oldest of the page', async () => {
      expect(await page('limit=4')).toMatchObject({ ids: all.slice(2).map(({ id }) => id), nextBefore: idOf(2) });
      expect(await page(`limit=4&before=${idOf(2)}`)).toMatchObject({ ids: [idOf(0), idOf(1)], nextBefore: null });
      expect(await page(`limit=1&before=${idOf(2)}`)).toMatchObject({ ids: [idOf(1)], nextBefore: idOf(1) });
      expect(await page(`before=${idOf(3)}`)).toMatchObject({ ids: [0, 1, 2].map(idOf), nextBefore: null });
      expect(await page(`before=${idOf(0)}`)).toMatchObject({ ids: [], nextBefore: null });
      expect(await page('limit=6')).toMatchObject({ ids: all.map(({ id }) => id), nextBefore: null });
    });

    it.each([
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=1.5', 'limit'],
      ['before=', 'before'],
      [`before=${randomUUID()}`, 'before'],
    ])('returns 400 for %s and names the field', async (query, field) => {
      const { status, issues } = await page(query);
      expect([status, issues?.[0]?.path]).toEqual([400, `querystring.${field}`]);
    });

    it('an unknown thread has no messages', async () => {
      expect((await user.call('GET', `/messages/${newThread()}?limit=5&before=x`)).body).toEqual({ messages: [] });
    });
  });

  it('allows browsers to send Idempotency-Key, change a title, and read the next page', async () => {
    const origin = 'https://eu.app.example';
    const preflight = await fetch(`${rig.url}/threads/x`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'idempotency-key',
      },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('idempotency-key');
    const { headers } = await user.call('GET', '/threads', undefined, { origin });
    expect(headers.get('access-control-expose-headers')).toContain('X-Next-Before');
  });
});
