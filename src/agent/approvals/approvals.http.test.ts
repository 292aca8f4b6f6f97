/** Tool calls that a person approves or denies (docs/specification/agent.md#approvals). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import { type ForeignServer, startForeignServer } from '../../../test/agent/mcp.fixture.ts';
import { type Chatter, type Message, newThread, testSettings } from '../../../test/agent/rig.fixture.ts';
import { imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { listen } from '../../../test/agent/userevents.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { imageModel, videoModel } from '../generation/catalogue.ts';
import { openImageProvider, openVideoProvider } from '../providers/openaimedia.ts';

let rig: ScriptedRig;
let user: Chatter;
let foreign: ForeignServer;
const wiped: unknown[] = [];
const server = { headers: {} };

beforeAll(async () => {
  foreign = await startForeignServer((mcp) => {
    const define = (name: string, annotations: object) =>
      mcp.registerTool(name, { description: name, annotations }, () => {
        wiped.push(name);
        return { content: [{ type: 'text', text: `${name} is done` }] };
      });
    define('wipe', { destructiveHint: true });
    define('look', { readOnlyHint: true });
  });
  rig = await startScripted({
    settings: {
      mcpServers: [{ name: 'desk', url: foreign.url, ...server }],
      mcpAllowPrivate: true,
      toolApproval: { saveMemory: true, 'recall*': true },
      approvalCredits: 2,
    },
  });
  user = await rig.user('pro', 1000);
});
afterAll(async () => {
  await rig.close();
  await foreign.close();
});

const call = (name: string, args: object = {}, id = 'call_0') => ({ id, name, args });
const save = (content: string, id?: string) => call('saveMemory', { content }, id);

interface Asked {
  readonly threadId: string;
  readonly taskId: string;
  readonly message: Message;
  readonly approvalIds: readonly string[];
}

const partsOf = (message: Message | undefined) => (message?.parts ?? []).filter(({ type }) => type.startsWith('tool-'));
const idsIn = (message: Message | undefined) =>
  partsOf(message).flatMap(({ state, approval }) =>
    state === 'approval-requested' ? [String((approval as { id: string }).id)] : [],
  );

/** A run that ends with questions. */
async function ask(
  calls: readonly ReturnType<typeof call>[],
  then: object = { text: 'Done.' },
  chatter = user,
): Promise<Asked> {
  const word = `<ask ${randomUUID()}>`;
  rig.provider.on(word, { calls }, then as { text: string });
  const threadId = newThread();
  const taskId = await chatter.ask(threadId, word);
  expect(await chatter.ended(taskId)).toMatchObject({ status: 'completed', error: null });
  const message = (await chatter.messages(threadId))[1] as Message;
  return { threadId, taskId, message, approvalIds: idsIn(message) };
}

const answer = (threadId: string, approvals: unknown, chatter = user, headers = {}) =>
  chatter.call('POST', '/task', { threadId, approvals }, headers);
const yes = (approvalId: string) => ({ approvalId, approved: true });
const no = (approvalId: string, reason?: string) => ({ approvalId, approved: false, reason });

describe('a tool call that needs approval', () => {
  it('ends the run with a question, and reserves nothing', async () => {
    const own = await rig.user('pro', 10);
    const { message, taskId, threadId, approvalIds } = await ask(
      [call('generateImage', { prompt: 'A bee' })],
      undefined,
      own,
    );
    expect(message.metadata).toMatchObject({ finishReason: 'tool-calls', status: 'completed', credits: 1 });
    expect(partsOf(message)).toEqual([
      {
        type: 'tool-generateImage',
        toolCallId: 'call_0',
        state: 'approval-requested',
        input: { prompt: 'A bee' },
        approval: { id: approvalIds[0] },
      },
    ]);
    const { events } = await own.stream(taskId);
    const types = events.map(({ data }) => data.type);
    expect(types.slice(types.indexOf('tool-input-available'))).toEqual([
      'tool-input-available',
      'tool-approval-request',
      'data-approval',
      'finish-step',
      'finish',
    ]);
    expect(events.find(({ data }) => data.type === 'data-approval')?.data.data).toEqual({
      approvalId: approvalIds[0],
      toolCallId: 'call_0',
      toolName: 'generateImage',
      credits: 2,
      model: 'an-image-model',
    });
    const ledger = rig.media.database.queries<LedgerTables>().selectFrom('credit_ledger').select('state');
    expect(await ledger.where('user_id', '=', own.userId).execute()).toEqual([{ state: 'settled' }]);
    expect((await own.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
  });

  it('is carried out once approved, in the same message, and the tool costs what it costs', async () => {
    const own = await rig.user('pro', 10);
    rig.provider.on('A wasp', imageAnswer(await makeImage('png')));
    const asked = await ask([call('generateImage', { prompt: 'A wasp' })], { text: 'Here it is.' }, own);
    const started = await answer(asked.threadId, [yes(asked.approvalIds[0] as string)], own);
    expect(started).toMatchObject({ status: 201, body: { threadId: asked.threadId } });
    const taskId = String(started.body.taskId);
    expect(taskId).not.toBe(asked.taskId);
    const rest = await own.stream(taskId, { lastEventId: String(started.body.lastEventId) });
    expect(rest.events.map(({ data }) => data.type)).toEqual([
      'start',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(await own.ended(taskId)).toMatchObject({ status: 'completed' });
    const messages = await own.messages(asked.threadId);
    expect(messages.map(({ id }) => id)).toEqual([expect.any(String), asked.message.id]);
    const [part] = partsOf(messages[1]);
    expect(part).toMatchObject({
      state: 'output-available',
      approval: { id: asked.approvalIds[0], approved: true },
      output: { kind: 'image', status: 'completed' },
    });
    expect(messages[1]?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Here it is.' });
    expect(messages[1]?.metadata).toMatchObject({ taskId, finishReason: 'stop', credits: 3 });
    expect(await rig.credits(own)).toBe(7);
    // A reader who has nothing of the message gets all of it.
    const whole = (await own.stream(taskId)).events.map(({ data }) => data.type);
    expect(whole.slice(0, 4)).toEqual(['start', 'start-step', 'tool-input-available', 'tool-approval-request']);
  });

  it('is not carried out once denied, and the model learns why', async () => {
    const asked = await ask([save('I like tea')]);
    const { body } = await answer(asked.threadId, [no(asked.approvalIds[0] as string, 'Not in summer.')]);
    await user.ended(String(body.taskId));
    expect(rig.memories).not.toContain('I like tea');
    const [, message] = await user.messages(asked.threadId);
    expect(partsOf(message)).toMatchObject([
      { state: 'output-denied', approval: { approved: false, reason: 'Not in summer.' } },
    ]);
    const last = JSON.stringify(rig.provider.requests.at(-1)?.body);
    expect(last).toContain('The user has denied this call. Not in summer.');
  });

  it('waits beside calls that need none, and for the other answers', async () => {
    const asked = await ask([save('One', 'a'), save('Two', 'b'), call('desk_look', {}, 'c')]);
    expect(partsOf(asked.message).map(({ state }) => state)).toEqual([
      'approval-requested',
      'approval-requested',
      'output-available',
    ]);
    const requests = rig.provider.requests.length;
    const first = await answer(asked.threadId, [yes(asked.approvalIds[0] as string)]);
    await user.ended(String(first.body.taskId));
    const [, half] = await user.messages(asked.threadId);
    expect(partsOf(half).map(({ state }) => state)).toEqual([
      'output-available',
      'approval-requested',
      'output-available',
    ]);
    expect(half?.metadata.finishReason).toBe('tool-calls');
    expect(rig.provider.requests).toHaveLength(requests);
    const second = await answer(asked.threadId, [no(asked.approvalIds[1] as string)]);
    await user.ended(String(second.body.taskId));
    const [, whole] = await user.messages(asked.threadId);
    expect([half?.id, whole?.id]).toEqual([asked.message.id, asked.message.id]);
    expect(whole?.parts.at(-1)).toMatchObject({ text: 'Done.' });
    expect([rig.memories.includes('One'), rig.memories.includes('Two')]).toEqual([true, false]);
  });

  it('is a destructive tool of an MCP server by default', async () => {
    const asked = await ask([call('desk_wipe')]);
    expect([asked.approvalIds.length, wiped.includes('wipe')]).toEqual([1, false]);
    const { body } = await answer(asked.threadId, [yes(asked.approvalIds[0] as string)]);
    await user.ended(String(body.taskId));
    expect(wiped.filter((name) => name === 'wipe')).toEqual(['wipe']);
  });

  it('can be asked again by the model that was told the answer', async () => {
    const asked = await ask([save('Again')], { calls: [save('Again', 'call_0')] });
    const { body } = await answer(asked.threadId, [no(asked.approvalIds[0] as string)]);
    await user.ended(String(body.taskId));
    const [, message] = await user.messages(asked.threadId);
    expect(partsOf(message).map(({ toolCallId, state }) => [toolCallId, state])).toEqual([
      ['call_0', 'output-denied'],
      ['call_0-2', 'approval-requested'],
    ]);
  });

  it('is denied by a new question', async () => {
    const asked = await ask([save('Late')]);
    await rig.runText(user, asked.threadId, 'Something else');
    const [, message] = await user.messages(asked.threadId);
    expect(partsOf(message)).toMatchObject([{ state: 'output-denied', approval: { approved: false } }]);
    const late = await answer(asked.threadId, [yes(asked.approvalIds[0] as string)]);
    expect([late.status, late.body.error, late.body.reason]).toEqual([409, 'approval_answered', 'approval_answered']);
    expect(rig.memories).not.toContain('Late');
  });
});

describe('an answer', () => {
  it.each([
    ['no approvals', []],
    ['no list', {}],
    ['an approval without an id', [{ approved: true }]],
    ['an approval without an answer', [{ approvalId: randomUUID() }]],
    ['an unknown approval', [yes(randomUUID())]],
    ['an id that is no UUID', [yes('call_0')]],
  ])('with %s returns 400', async (_title, approvals) => {
    const asked = await ask([save('Never')]);
    const { status, body } = await answer(asked.threadId, approvals);
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it('to the same approval twice, or with a message, returns 400', async () => {
    const { threadId, approvalIds } = await ask([save('Never')]);
    const id = approvalIds[0] as string;
    expect((await answer(threadId, [yes(id), no(id)])).status).toBe(400);
    const both = await user.call('POST', '/task', { threadId, text: 'Hi', approvals: [yes(id)] });
    expect(both.status).toBe(400);
  });

  it('is given once, by the owner, in the thread of the question', async () => {
    const { threadId, approvalIds } = await ask([save('Once')]);
    const id = approvalIds[0] as string;
    const stranger = await rig.user('pro', 10);
    expect((await answer(threadId, [yes(id)], stranger)).status).toBe(403);
    expect((await answer(newThread(), [yes(id)], stranger)).status).toBe(403);
    expect((await answer(newThread(), [yes(id)])).status).toBe(400);
    const key = { 'idempotency-key': randomUUID() };
    const first = await answer(threadId, [yes(id)], user, key);
    expect(first.status).toBe(201);
    expect(await answer(threadId, [yes(id)], user, key)).toMatchObject({ status: 201, body: first.body });
    await user.ended(String(first.body.taskId));
    const again = await answer(threadId, [no(id)]);
    expect([again.status, again.body.reason]).toEqual([409, 'approval_answered']);
    expect(rig.memories.filter((one) => one === 'Once')).toHaveLength(1);
  });

  const respond = (asked: Asked, parts: readonly object[], chatter = user) =>
    fetch(`${rig.url}/chat`, {
      method: 'POST',
      headers: { ...chatter.credential, 'content-type': 'application/json' },
      body: JSON.stringify({
        id: asked.threadId,
        messageId: asked.message.id,
        messages: [{ ...asked.message, parts }],
        trigger: 'submit-message',
      }),
    });
  const responded = (asked: Asked, approval: object, changes: object = {}) =>
    asked.message.parts.map((part) =>
      part.state === 'approval-requested' ? { ...part, state: 'approval-responded', approval, ...changes } : part,
    );

  it('over the chat transport carries out the stored call, whatever the client sends', async () => {
    const asked = await ask([save('As stored')]);
    const approval = { id: asked.approvalIds[0], approved: true };
    const response = await respond(asked, responded(asked, approval, { input: { content: 'As sent' } }));
    const text = await response.text();
    expect(text).toMatch(/^id: \d+-\d+\ndata: \{"type":"start","messageId":"[^"]+"/);
    expect(text).toContain('"type":"tool-output-available"');
    expect(text).not.toContain('"type":"tool-input-available"');
    expect([rig.memories.includes('As stored'), rig.memories.includes('As sent')]).toEqual([true, false]);
    const again = await respond(asked, responded(asked, approval));
    expect([again.status, ((await again.json()) as { reason: string }).reason]).toEqual([409, 'approval_answered']);
  });

  it('over the chat transport to a call that nobody asked about returns 400', async () => {
    const asked = await ask([save('Forged')]);
    for (const approval of [
      { id: randomUUID(), approved: true },
      { approved: true },
      { id: asked.approvalIds[0] },
      undefined,
    ]) {
      const response = await respond(asked, responded(asked, approval as object));
      expect([approval, response.status]).toEqual([approval, 400]);
    }
    expect(rig.memories).not.toContain('Forged');
  });

  it('has the price of all its images, with the model of the call or of the run', async () => {
    const settings = { url: rig.provider.url, apiKey: 'k', name: 'a-maker' };
    const [painter, filmer] = [openImageProvider(settings), openVideoProvider(settings)];
    const other = await rig.another({
      settings: { ...testSettings, approvalCredits: 1 },
      catalogue: {
        images: [imageModel(painter, { id: 'plain' }), imageModel(painter, { id: 'fine', credits: 3 })],
        videos: [videoModel(filmer, { id: 'film' }), videoModel(filmer, { id: 'short', credits: 7 })],
      },
      pace: { leaseMs: 60_000 },
    });
    const own = rig.at(other.url, await rig.user('pro', 100));
    const [word, prompt, threadId] = [`<price ${randomUUID()}>`, `fine bees ${randomUUID()}`, newThread()];
    for (const seed of [1, 2, 3]) rig.provider.on(prompt, imageAnswer(await makeImage('png', { seed })));
    const calls = [
      call('generateImage', { prompt, n: 3 }, 'call_0'),
      call('generateImage', { prompt, n: 2, model: 'plain' }, 'call_1'),
      call('generateVideo', { prompt }, 'call_2'),
    ];
    rig.provider.on(word, { calls }, { text: 'Done.' });
    const listening = await listen(other.url, own);
    const media = { imageModel: 'fine', videoModel: 'short' };
    const { body } = await own.call<{ taskId: string }>('POST', '/task', { threadId, text: word, media });
    await own.ended(body.taskId);
    const { events } = await own.stream(body.taskId);
    const shown = events.flatMap(({ data }) => (data.type === 'data-approval' ? [data.data] : []));
    expect(shown).toMatchObject([{ model: 'fine' }, { model: 'plain' }, { model: 'short' }]);
    const asked = () => listening.events.map(({ data }) => data).filter(({ type }) => type === 'approval.requested');
    await expect.poll(asked).toMatchObject([{ credits: 9 }, { credits: 4 }, { credits: 7 }]);
    const [first, ...rest] = idsIn((await own.messages(threadId))[1]);
    const approvals = [yes(String(first)), ...rest.map((id) => no(id))];
    const answered = await answer(threadId, approvals, own);
    await own.ended(String(answered.body.taskId));
    expect([answered.status, await rig.credits(own)]).toEqual([201, 100 - 1 - 9]);
    await listening.close();
  });

  it('is published to the user and counts only its tool', async () => {
    const asked = await ask([save('Counted')]);
    const rows = await rig.media.database
      .queries<{ agent_user_events: { user_id: string; event: { type: string; threadId: string } } }>()
      .selectFrom('agent_user_events')
      .select('event')
      .where('user_id', '=', user.userId)
      .execute();
    const events = rows.map(({ event }) => event).filter(({ threadId }) => threadId === asked.threadId);
    expect(events).toContainEqual({
      type: 'approval.requested',
      threadId: asked.threadId,
      taskId: asked.taskId,
      approvalId: asked.approvalIds[0],
      toolCallId: 'call_0',
      toolName: 'saveMemory',
      credits: 0,
    });
  });
});
