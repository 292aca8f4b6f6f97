/** A `data:` image is stored before its run starts, but only if the run may start. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MediaTables } from '#media/tables.ts';
import { type AgentRig, type Chatter, newThread, startAgent, testSettings } from '../../../test/agent/rig.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';

let rig: AgentRig;
let parts: readonly object[];
beforeAll(async () => {
  rig = await startAgent(embedded, { settings: { ...testSettings, maxRunsPerUser: 2 } });
  const url = `data:image/png;base64,${(await makeImage('png')).toString('base64')}`;
  parts = [
    { type: 'text', text: '/slow 300' },
    { type: 'file', mediaType: 'image/png', url },
  ];
});
afterAll(() => rig.close());

const send = (user: Chatter, threadId = newThread(), more = {}) =>
  user.call('POST', '/task', { threadId, message: { role: 'user', parts }, ...more });

const assetsOf = ({ userId }: Chatter) =>
  rig.media.database
    .queries<MediaTables>()
    .selectFrom('assets')
    .select('asset_id as assetId')
    .where('owner_id', '=', userId)
    .execute();

interface Prepared {
  readonly user: Chatter;
  readonly threadId?: string;
  readonly more?: object;
}

describe('a refused run leaves no asset', () => {
  it.each([
    ['without credits', 402, 'insufficient_credits', async () => ({ user: await rig.user('pro', 0) })],
    [
      'that rewinds to an unknown message',
      400,
      'invalid_request',
      async () => ({ user: await rig.user(), more: { rewindTo: 'nothing' } }),
    ],
    [
      "in another user's thread",
      403,
      'forbidden',
      async () => {
        const threadId = newThread();
        await (await rig.user()).ask(threadId, 'Hello?');
        return { user: await rig.user(), threadId };
      },
    ],
    [
      'in a thread with a run in progress',
      409,
      'task_running',
      async () => {
        const [user, threadId] = [await rig.user(), newThread()];
        await user.ask(threadId, '/slow 300');
        return { user, threadId };
      },
    ],
    [
      'of a user with too many runs',
      429,
      'too_many_runs',
      async () => {
        const user = await rig.user();
        await Promise.all([user.ask(newThread(), '/slow 300'), user.ask(newThread(), '/slow 300')]);
        return { user };
      },
    ],
  ] satisfies readonly (readonly [string, number, string, () => Promise<Prepared>])[])(
    '%s: %d %s',
    async (_title, status, error, prepare) => {
      const { user, threadId, more }: Prepared = await prepare();
      const before = await rig.credits(user);
      const answer = await send(user, threadId, more);
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      expect([await assetsOf(user), await rig.credits(user)]).toEqual([[], before]);
    },
  );
});

it('a started run creates one asset and costs one run', async () => {
  const [user, threadId] = [await rig.user('pro', 10), newThread()];
  const { status, body } = await send(user, threadId);
  expect(status).toBe(201);
  const [asset, ...others] = await assetsOf(user);
  expect([others, await rig.credits(user)]).toEqual([[], 9]);
  const [question] = await user.messages(threadId);
  expect(question?.parts[1]).toMatchObject({ providerMetadata: { atelier: { assetId: asset?.assetId } } });
  await user.call('DELETE', `/task/${body.taskId}`);
});
