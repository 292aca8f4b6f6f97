import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountTables } from '#accounts/store.ts';
import { transaction } from '#platform/db/db.ts';
import { type AgentRig, type Chatter, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { setPlanAndCredits } from '../../../test/credits.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { embedded, upload } from '../../../test/media/rig.fixture.ts';
import { listEvents } from '../eventlog/eventstore.ts';
import type { AgentTables } from '../tables.ts';
import { appendMessage, listMessages, type StoredMessage } from './messagestore.ts';
import { lockThread } from './threadstore.ts';

let rig: AgentRig;
let user: Chatter;
beforeAll(async () => {
  // Small enough for the limits of the tests.
  const make = async () => ({ bytes: await makeImage('png'), mime: 'image/png' });
  rig = await startAgent(embedded, { imageGenerator: { generate: make, edit: make } });
  user = await rig.user('pro', 1000);
});
afterAll(() => rig.close());

const stored = async (threadId: string) =>
  JSON.stringify(await listMessages(rig.media.database.queries<AgentTables>(), threadId));
const file = (url: string) => ({ type: 'file', mediaType: 'image/png', url });
const say = async (threadId: string, parts: readonly object[], more = {}, chatter = user) =>
  chatter.call<{ taskId: string; error: string; issues: { path: string }[] }>('POST', '/task', {
    threadId,
    message: { role: 'user', parts },
    ...more,
  });

/** Of this user, in the library. */
async function newAsset(chatter: Chatter, scopeKind = 'thread') {
  const client = rig.media.client(chatter.credential);
  const { registration, assetId } = await upload(client, await makeImage('png'), { scopeKind });
  expect((await client.register(registration)).status).toBe(201);
  return assetId;
}

describe('addresses of media', () => {
  it('are signed at each read and never stored, and absent for deleted assets', async () => {
    const threadId = newThread();
    const taskId = await user.ask(threadId, 'Make an image and a video.');
    await user.ended(taskId);
    const outputs = async () =>
      (await user.messages(threadId))[1]?.parts.flatMap((part) =>
        part.output ? [part.output as Record<string, string>] : [],
      );
    const media = (await outputs()) ?? [];
    expect(media.map(({ kind, status, mime }) => [kind, status, mime])).toEqual([
      ['image', 'completed', 'image/png'],
      ['video', 'completed', 'video/mp4'],
    ]);
    for (const { url } of media) expect((await fetch(String(url))).status).toBe(200);
    // Streams sign too, so the log has ids only.
    const log = JSON.stringify(await listEvents(rig.media.database.queries<AgentTables>(), taskId, 0, 100));
    for (const { assetId } of media) expect(log).toContain(assetId);
    expect(log).not.toContain('http');
    expect(await stored(threadId)).not.toContain('http');
    const ids = media.map(({ assetId }) => assetId);
    expect((await rig.media.client(user.credential).delete('/v1/assets', { ids })).status).toBe(200);
    expect(await outputs()).toEqual(media.map(({ thumbUrl: _, ...rest }) => ({ ...rest, url: null })));
  });

  it('are signed for attached files as well; other URLs are unchanged', async () => {
    const threadId = newThread();
    const assetId = await newAsset(user);
    const others = [file('https://images.example/a.png'), file('data:image/png;base64,iVBORw0KGgo=')];
    const shown = file('blob:http://localhost:5173/1');
    const named = { ...shown, providerMetadata: { atelier: { assetId } } };
    expect(await say(threadId, [shown])).toMatchObject({
      status: 400,
      body: { issues: [{ path: 'body.message.parts.0.url' }] },
    });
    const parts = [{ type: 'text', text: 'Look.' }, file(`asset:${assetId.toUpperCase()}`), named, ...others];
    const { status, body } = await say(threadId, parts);
    expect(status).toBe(201);
    await user.ended(body.taskId);
    const [question] = await user.messages(threadId);
    const [, attached, same, ...rest] = question?.parts ?? [];
    for (const part of [attached, same]) {
      const { thumbUrl } = Object(Object(part?.providerMetadata).atelier);
      for (const url of [part?.url, thumbUrl]) expect((await fetch(String(url))).status).toBe(200);
    }
    // The second image cannot be decoded, so it cannot become an asset.
    expect(rest).toMatchObject(others);
    expect(await stored(threadId)).not.toContain('signature');
    await rig.media.client(user.credential).delete('/v1/assets', { ids: [assetId] });
    const gone = { ...file(`asset:${assetId}`), providerMetadata: { atelier: { assetId } } };
    expect((await user.messages(threadId))[0]?.parts).toMatchObject([parts[0], gone, gone, ...others]);
  });

  describe('accepts an attached image that the user may read, also through a server', () => {
    const asUser = (threadId: string, parts: readonly object[]) => say(threadId, parts);
    const asServer = (threadId: string, parts: readonly object[]) =>
      say(threadId, parts, { userId: user.userId }, rig.server);

    it.each([
      ['the user', asUser],
      ['a server for the user', asServer],
    ])('%s: 201 for public assets, 403 for those of others, 400 for none', async (_who, attach) => {
      const stranger = await rig.user('pro', 10);
      const [own, shared] = [await newAsset(stranger), await newAsset(stranger, 'feed')];
      const threadId = newThread();
      const foreign = await attach(threadId, [file(`asset:${shared}`), file(`asset:${own}`)]);
      expect([foreign.status, foreign.body.error]).toEqual([403, 'forbidden']);
      const absent = await attach(threadId, [file(`asset:${randomUUID()}`)]);
      expect([absent.status, absent.body.issues[0]?.path]).toEqual([400, 'body.message.parts']);
      expect(await user.messages(threadId)).toEqual([]);
      const started = await attach(threadId, [file(`asset:${shared}`)]);
      expect(started.status).toBe(201);
      await user.ended(started.body.taskId);
    });
  });

  describe('are signed only for the owner of the thread, regardless of the stored message', () => {
    let alice: Chatter;
    let theirs: string;
    let legacyPath: string;
    beforeAll(async () => {
      alice = await rig.user('pro', 10);
      theirs = await newAsset(alice);
      legacyPath = `${alice.userId}/passport.png`;
      const png = await makeImage('png');
      await rig.media.legacyFiles.put(legacyPath, png, {
        contentType: 'image/png',
        size: png.length,
        createOnly: true,
      });
    });

    /** As it may have been stored before such parts were refused. */
    async function store(role: 'user' | 'assistant', part: object): Promise<string> {
      const threadId = newThread();
      const db = rig.media.database.queries<AgentTables>();
      await transaction(db, async (tx) => {
        await lockThread(tx, threadId, user.userId);
        const parts = [{ type: 'text', text: 'Look.' }, part] as StoredMessage['parts'];
        await appendMessage(
          tx,
          { threadId, id: randomUUID(), ownerId: user.userId, role, parts, metadata: {} },
          undefined,
        );
      });
      return threadId;
    }
    const tool = (output: object) => ({
      type: 'tool-editImage',
      toolCallId: 'c',
      state: 'output-available',
      input: {},
      output,
    });
    const video = (data: object) => ({ type: 'data-video', id: 'v', data });

    it.each([
      ['a file', 'user', () => file(`asset:${theirs}`)],
      ['a file in an answer', 'assistant', () => file(`asset:${theirs}`)],
      ['a file in the legacy backend', 'user', () => file(`asset:${legacyPath}`)],
      ['a part of a user with an image', 'user', () => video({ kind: 'image', assetId: theirs })],
      ['a part of a user with a video', 'user', () => video({ kind: 'video', assetId: theirs })],
      ['a part of a user with a path', 'user', () => video({ kind: 'image', assetId: legacyPath })],
      ['a part of an answer with an image', 'assistant', () => video({ kind: 'image', assetId: theirs })],
      ['a part of an answer with a video', 'assistant', () => video({ kind: 'video', assetId: theirs })],
      ['a part of an answer with a path', 'assistant', () => video({ kind: 'image', assetId: legacyPath })],
      ['an output with an image', 'assistant', () => tool({ kind: 'image', assetId: theirs })],
      ['an output with a video', 'assistant', () => tool({ kind: 'video', assetId: theirs })],
      ['an output with a path', 'assistant', () => tool({ kind: 'video', assetId: legacyPath })],
    ] as const)('not %s', async (_title, role, part) => {
      const threadId = await store(role, part());
      for (const reader of [user, rig.server]) {
        const listed = JSON.stringify(await reader.messages(threadId));
        expect(listed).not.toContain('http');
        expect(listed).toContain('Look.');
      }
    });

    it('signs private ones of the owner and public ones, also for a server that reads the thread', async () => {
      for (const assetId of [await newAsset(user), await newAsset(alice, 'feed')]) {
        for (const part of [file(`asset:${assetId}`), tool({ kind: 'image', assetId })]) {
          const threadId = await store('assistant', part);
          for (const reader of [user, rig.server])
            expect(JSON.stringify(await reader.messages(threadId))).toContain('"url":"http');
        }
      }
    });

    it('an image of another user cannot be edited, even if an old message attaches it', async () => {
      const threadId = await store('user', file(`asset:${theirs}`));
      await user.ended(await user.ask(threadId, 'Please edit it.'));
      const [, , answer] = await user.messages(threadId);
      const outputs = answer?.parts.flatMap(({ output }) => output ?? []);
      expect(outputs).toMatchObject([{ assetId: null, status: 'failed', failure: { code: 'rejected' } }]);
    });
  });
});

describe('rewindTo', () => {
  let threadId: string;
  const text = (word: string) => [{ type: 'text', text: word }];
  const roles = async () => (await user.messages(threadId)).map(({ role }) => role).join(' ');
  const turn = 'user assistant';

  beforeAll(async () => {
    threadId = newThread();
    for (const word of ['one', 'two', 'three']) await user.ended(await user.ask(threadId, word));
  });

  async function messageOfAnotherThread(): Promise<string> {
    const other = newThread();
    await user.ended(await user.ask(other, 'hi'));
    return String((await user.messages(other))[0]?.id);
  }

  it.each([
    ['nobody', 'nobody'],
    ['a message of another thread', undefined],
    ['NUL', 'a\0b'],
  ] as const)('%s: 400, and nothing is dropped', async (_title, id) => {
    const { status, body } = await say(threadId, text('x'), { rewindTo: id ?? (await messageOfAnotherThread()) });
    expect([status, body.issues[0]?.path]).toEqual([400, 'body.rewindTo']);
    expect(await roles()).toBe([turn, turn, turn].join(' '));
  });

  it('without credits (402) or without rights (403) drops nothing', async () => {
    const rewindTo = (await user.messages(threadId))[0]?.id;
    const accounts = rig.media.database.queries<AccountTables>();
    await setPlanAndCredits(accounts, user.userId, 'pro', 0);
    expect((await say(threadId, text('x'), { rewindTo })).status).toBe(402);
    await setPlanAndCredits(accounts, user.userId, 'pro', 1000);
    expect((await say(threadId, text('x'), { rewindTo }, await rig.user())).status).toBe(403);
    expect(await roles()).toBe([turn, turn, turn].join(' '));
  });

  it('returns 409 while a run is in progress, and drops nothing', async () => {
    const taskId = await user.ask(threadId, '/slow 60');
    const rewindTo = (await user.messages(threadId))[0]?.id;
    const { status, body } = await say(threadId, text('x'), { rewindTo });
    expect([status, body.taskId]).toEqual([409, taskId]);
    await user.stream(taskId, { cutAfter: 2 });
    await user.call('DELETE', `/task/${taskId}`);
    await user.ended(taskId);
    expect(await roles()).toBe([turn, turn, turn, turn].join(' '));
  });

  it('drops a question, an answer or the first message and all that follow, also for the model', async () => {
    const rewind = async (index: number) => {
      const rewindTo = (await user.messages(threadId))[index]?.id;
      const { status, body } = await say(threadId, text('again'), { rewindTo });
      expect(status).toBe(201);
      await user.ended(body.taskId);
    };
    await rewind(4);
    expect(await roles()).toBe([turn, turn, turn].join(' '));
    await rewind(3);
    expect(await roles()).toBe(`${turn} user ${turn}`);
    await rewind(0);
    expect(await roles()).toBe(turn);
    expect((await user.messages(threadId))[0]?.parts).toEqual(text('again'));
  });

  it('treats null as absent', async () => {
    const { status, body } = await say(threadId, text('more'), { rewindTo: null });
    expect(status).toBe(201);
    await user.ended(body.taskId);
    expect(await roles()).toBe([turn, turn].join(' '));
  });
});
