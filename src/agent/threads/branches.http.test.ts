/** Versions of a thread: an edit and another answer keep what they replace, and the owner goes back and forth. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentRig, type Chatter, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { onEveryPair } from '../../../test/media/rig.fixture.ts';
import type { ReplacedMessages, ThreadBranches, ThreadInfo } from '../api.ts';

onEveryPair('branches', (pair) => {
  let rig: AgentRig;
  let user: Chatter;
  beforeAll(async () => {
    rig = await startAgent(pair);
    user = await rig.user();
  });
  afterAll(() => rig.close());

  const say = async (threadId: string, text: string, rewindTo?: string) => {
    const id = rewindTo ?? randomUUID();
    const message = { id, role: 'user', parts: [{ type: 'text', text }] };
    const { status, body } = await user.call('POST', '/task', { threadId, message, rewindTo });
    expect(status).toBe(201);
    await user.ended(String(body.taskId));
    return id;
  };
  const questions = async (threadId: string) =>
    (await user.messages(threadId)).filter(({ role }) => role === 'user').map(({ parts }) => parts[0]?.text);
  const forks = async (threadId: string) =>
    (await user.call<ThreadBranches>('GET', `/threads/${threadId}/branches`)).body.forks;
  const choose = (threadId: string, branchId: string | null | undefined, chatter = user) =>
    chatter.call('POST', `/threads/${threadId}/branches/${branchId}`);

  it('an edit keeps the replaced messages, which can be shown again without a loss', async () => {
    const threadId = newThread();
    await say(threadId, 'first');
    const edited = await say(threadId, 'second');
    await say(threadId, 'third');
    const before = await user.messages(threadId);
    expect(await forks(threadId)).toEqual([]);

    await say(threadId, 'second, changed', edited);
    const after = await user.messages(threadId);
    expect(await questions(threadId)).toEqual(['first', 'second, changed']);
    const [fork] = await forks(threadId);
    expect(fork).toEqual({
      messageId: edited,
      branches: [
        { branchId: expect.any(String), createdAt: expect.any(String) },
        { branchId: null, createdAt: null },
      ],
    });

    expect((await choose(threadId, fork?.branches[0]?.branchId)).status).toBe(204);
    expect(await user.messages(threadId)).toEqual(before);
    const { body } = await user.call<ThreadInfo>('GET', `/threads/${threadId}`);
    expect(body.messageCount).toBe(before.length);
    const [back] = await forks(threadId);
    expect(back?.branches.map(({ branchId }) => branchId === null)).toEqual([true, false]);
    await choose(threadId, back?.branches[1]?.branchId);
    expect(await user.messages(threadId)).toEqual(after);
  });

  it('branches of a branch are there only while it is shown', async () => {
    const threadId = newThread();
    const first = await say(threadId, 'a');
    const second = await say(threadId, 'b');
    await say(threadId, 'b2', second);
    await say(threadId, 'a2', first);
    const [fork, ...more] = await forks(threadId);
    expect([fork?.messageId, more]).toEqual([first, []]);
    await choose(threadId, fork?.branches[0]?.branchId);
    expect(await questions(threadId)).toEqual(['a', 'b2']);
    const [outer, inner] = await forks(threadId);
    expect([outer?.messageId, inner?.messageId]).toEqual([first, second]);
    await choose(threadId, inner?.branches[0]?.branchId);
    expect(await questions(threadId)).toEqual(['a', 'b']);
    // The other version of the first message has no such branch.
    const innerId = (await forks(threadId))[1]?.branches.find(({ branchId }) => branchId !== null)?.branchId;
    const outerId = (await forks(threadId))[0]?.branches.find(({ branchId }) => branchId !== null)?.branchId;
    await choose(threadId, outerId);
    expect(await questions(threadId)).toEqual(['a2']);
    expect((await choose(threadId, innerId)).status).toBe(404);
  });

  it('a message can be sent in a branch that is shown again', async () => {
    const threadId = newThread();
    const first = await say(threadId, 'a');
    await say(threadId, 'b', first);
    await choose(threadId, (await forks(threadId))[0]?.branches[0]?.branchId);
    await say(threadId, 'c');
    expect(await questions(threadId)).toEqual(['a', 'c']);
  });

  it('concurrent choices lose no message', async () => {
    const threadId = newThread();
    const first = await say(threadId, 'a');
    await say(threadId, 'b', first);
    const branchId = (await forks(threadId))[0]?.branches[0]?.branchId;
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => (await choose(threadId, branchId)).status),
    );
    expect(statuses.toSorted()).toEqual([204, 404, 404, 404, 404]);
    expect(await questions(threadId)).toEqual(['a']);
    expect((await forks(threadId))[0]?.branches).toHaveLength(2);
  });

  it('only the owner reads and chooses them', async () => {
    const threadId = newThread();
    const first = await say(threadId, 'a');
    await say(threadId, 'b', first);
    const stranger = await rig.user();
    const branchId = (await forks(threadId))[0]?.branches[0]?.branchId;
    expect((await stranger.call('GET', `/threads/${threadId}/branches`)).status).toBe(403);
    expect((await choose(threadId, branchId, stranger)).status).toBe(403);
    expect((await choose(threadId, randomUUID())).status).toBe(404);
    expect((await user.call('GET', `/threads/${newThread()}/branches`)).status).toBe(404);
    expect(await questions(threadId)).toEqual(['b']);
  });

  it('the messages of all branches are listed, page by page', async () => {
    const threadId = newThread();
    const first = await say(threadId, 'a');
    const second = await say(threadId, `b ${'x'.repeat(4000)}`);
    await say(threadId, 'b2', second);
    await say(threadId, 'a2', first);
    const large = sql`update agent_branch_messages set bytes = 300000 where thread_id = ${threadId}`;
    await large.execute(rig.media.database.queries());
    const texts: unknown[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const path: string = `/threads/${threadId}/replaced${cursor === undefined ? '' : `?cursor=${cursor}`}`;
      const { body } = await user.call<ReplacedMessages>('GET', path);
      sizes.push(body.messages.length);
      for (const { role, parts } of body.messages)
        if (role === 'user') texts.push((parts[0] as { text: string }).text.slice(0, 2));
      cursor = body.next_cursor;
    }
    expect(texts).toEqual(['a', 'b ', 'b2']);
    expect(sizes).toEqual([1, 1, 1, 1, 1, 1, 0]);
    const stranger = await rig.user();
    expect((await stranger.call('GET', `/threads/${threadId}/replaced`)).status).toBe(403);
    expect((await user.call('GET', `/threads/${threadId}/replaced?cursor=x`)).status).toBe(400);
  });

  it('the deletion of a thread deletes its branches', async () => {
    const threadId = newThread();
    const first = await say(threadId, 'a');
    await say(threadId, 'b', first);
    expect((await user.call('DELETE', `/threads/${threadId}`)).status).toBe(204);
    const left = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from agent_branch_messages where thread_id = ${threadId}`.execute(
        rig.media.database.queries(),
      );
      return rows[0]?.count;
    };
    await expect.poll(left, { timeout: 30_000 }).toBe(0);
  });
});
