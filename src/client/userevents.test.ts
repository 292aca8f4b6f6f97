import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertUserEvents } from '#agent/userevents/usereventstore.ts';
import { transaction } from '#platform/db/db.ts';
import { type AgentRig, startAgent } from '../../test/agent/rig.fixture.ts';
import { shakyNetwork } from '../../test/agent/shaking.fixture.ts';
import { embedded } from '../../test/media/rig.fixture.ts';
import { followEvents, type UserEvent } from './userevents.ts';

let rig: AgentRig;
beforeAll(async () => {
  rig = await startAgent(embedded);
});
afterAll(() => rig.close());

const write = (userId: string, threadIds: readonly string[]) =>
  transaction(rig.media.database.queries(), (tx) =>
    insertUserEvents(
      tx,
      userId,
      threadIds.map((threadId) => ({ type: 'thread.updated', threadId })),
    ),
  );

/** Reads events until there are so many. */
async function take(events: AsyncGenerator<UserEvent>, count: number): Promise<readonly UserEvent[]> {
  const taken: UserEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

describe('events()', () => {
  it.each([1, 2, 3])('yields each event once and in order over a network that breaks (%i)', async (seed) => {
    const { userId, credential: headers } = await rig.user();
    const { fetch } = shakyNetwork(seed);
    const threadIds = Array.from({ length: 60 }, (_, index) => `${index}`);
    await write(userId, threadIds.slice(0, 30));
    const access = { url: rig.url, headers, fetch, patience: { firstPauseMs: 5, tries: 200 } };
    const taking = take(followEvents(access, { lastEventId: '0' }), 60);
    await write(userId, threadIds.slice(30));
    const taken = await taking;
    expect(taken.map(({ id }) => Number(id))).toEqual(threadIds.map((_, index) => index + 1));
    expect(taken.map((event) => 'threadId' in event && event.threadId)).toEqual(threadIds);
    expect(taken[0]).toEqual({ id: '1', type: 'thread.updated', threadId: '0', timestamp: expect.any(String) });
  });

  it('continues with another token when the one in use has expired', async () => {
    const { userId } = await rig.user();
    const tokenFor = (seconds: number) =>
      rig.media.issuer.token({ sub: userId, exp: Math.floor(Date.now() / 1000) + seconds });
    let token = await tokenFor(2);
    const accessToken = async (refused?: string) => {
      if (refused === token) token = await tokenFor(600);
      return token;
    };
    const { promise: renewed, resolve } = Promise.withResolvers<void>();
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await globalThis.fetch(...request);
      if (response.status === 401) resolve();
      return response;
    };
    const taking = take(followEvents({ url: rig.url, credential: { accessToken }, fetch }, { lastEventId: '0' }), 1);
    await renewed;
    await write(userId, ['after']);
    expect(await taking).toMatchObject([{ threadId: 'after' }]);
  });

  it('throws when it is refused, and when its signal aborts', async () => {
    const { credential: headers } = await rig.user();
    const refused = followEvents({ url: rig.url, credential: { accessToken: () => 'a.b.c' } });
    await expect(refused.next()).rejects.toMatchObject({ status: 401 });
    await expect(followEvents({ url: rig.url, headers }, { lastEventId: 'x' }).next()).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const controller = new AbortController();
    const waiting = followEvents({ url: rig.url, headers }, { signal: controller.signal }).next();
    controller.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  });
});
