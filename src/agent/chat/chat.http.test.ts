import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountTables } from '#accounts/store.ts';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { stockChats } from '../../../test/agent/stockchat.fixture.ts';
import { setPlanAndCredits } from '../../../test/credits.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';

let rig: ScriptedRig;
let user: Chatter;
const delta = JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Half a sen' } }] });
const stalled = { answer: { type: 'text/event-stream', body: `data: ${delta}\n\n`, stall: true } } as const;

beforeAll(async () => {
  rig = await startScripted();
  user = await rig.user('pro', 10_000);
  rig.provider.on('<stall>', stalled);
});
afterAll(() => rig.close());

const textsOf = (messages: readonly { readonly role: string; readonly parts: readonly object[] }[]) =>
  messages.map(({ role, parts }) => [
    role,
    parts.flatMap((part) => ('text' in part && Reflect.get(part, 'type') === 'text' ? [part.text] : [])).join(''),
  ]);

const question = (text: string, id: string = randomUUID()) => ({ id, role: 'user', parts: [{ type: 'text', text }] });

async function post(chatter: Chatter, body: unknown, headers = {}) {
  const response = await fetch(`${rig.url}/chat`, {
    method: 'POST',
    headers: { ...chatter.credential, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}
const refusal = async (chatter: Chatter, body: unknown) => {
  const { status, text } = await post(chatter, body);
  const { error, issues } = JSON.parse(text);
  return [status, error, issues?.[0]?.path];
};
/** Scripts the answer to a new question. */
function say(answer: string): string {
  const text = `<${randomUUID()}>`;
  rig.provider.on(text, { text: answer });
  return text;
}

describe('POST /chat', () => {
  it('answers with the stream of the run that it starts', async () => {
    const threadId = newThread();
    const message = say('Two');
    const { status, headers, text } = await post(user, { id: threadId, messages: [question(message, 'q')] });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(text).toMatch(/^id: \d+-1\ndata: \{"type":"start","messageId":"[^"]+"/);
    expect(text).toMatch(/"type":"finish".*\n\ndata: \[DONE\]\n\n$/);
    const messages = await user.messages(threadId);
    expect(textsOf(messages)).toEqual([
      ['user', message],
      ['assistant', 'Two'],
    ]);
    expect(text).toContain(`"messageId":"${messages[1]?.id}"`);
  });

  const threadId = newThread();
  const ok = { id: threadId, messages: [question('hi', 'm')], trigger: 'submit-message' };
  const long = `data:image/png;base64,${'A'.repeat(1024 * 1024)}`;
  it.each([
    ['no id', { ...ok, id: undefined }, 400, 'body.id'],
    ['an id with a slash', { ...ok, id: 'a/b' }, 400, 'body.id'],
    ['no messages', { ...ok, messages: undefined }, 400, 'body.messages'],
    ['an empty list of messages', { ...ok, messages: [] }, 400, 'body.messages'],
    ['a message without a role', { ...ok, messages: [{ parts: [] }] }, 400, 'body.messages.0.role'],
    ['no message of a user', { ...ok, messages: [{ role: 'assistant', parts: [] }] }, 400, 'body.messages'],
    ['an unknown trigger', { ...ok, trigger: 'resume-stream' }, 400, 'body.trigger'],
    ['a messageId that is no text', { ...ok, messageId: 7 }, 400, 'body.messageId'],
    ['a messageId of nothing', { ...ok, messageId: 'nothing' }, 400, 'body.messageId'],
    ['an unknown model', { ...ok, model: 'nothing' }, 400, 'body.model'],
    [
      'a part that users do not send',
      { ...ok, messages: [question('a'), { role: 'user', parts: [{ type: 'data-x', data: 1 }] }] },
      400,
      'body.messages.1.parts.0.type',
    ],
    [
      'an asset that does not exist',
      {
        ...ok,
        messages: [{ role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: `asset:${randomUUID()}` }] }],
      },
      400,
      'body.messages.0.parts',
    ],
    [
      'a message of more than 1 MiB',
      { ...ok, messages: [{ role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: long }] }] },
      413,
      undefined,
    ],
  ])('refuses %s', async (_name, body, status, path) => {
    const [found, , field] = await refusal(user, body);
    expect([found, field]).toEqual([status, path]);
    expect(await user.messages(threadId)).toEqual([]);
  });

  it('accepts a conversation of more than 1 MiB, of which it reads the last message', async () => {
    const earlier = Array.from({ length: 3 }, () => question('x'.repeat(1024 * 1024)));
    const message = say('Yes');
    const { status } = await post(user, { id: newThread(), messages: [...earlier, question(message)] });
    expect(status).toBe(200);
  });

  it('accepts only tokens', async () => {
    const chat = { id: newThread(), messages: [question('hi')], userId: user.userId };
    expect(await refusal(rig.server, chat)).toEqual([401, 'unauthorized', undefined]);
    expect(await refusal(rig.at(rig.url, { ...user, credential: {} }), '{')).toEqual([401, 'unauthorized', undefined]);
    expect((await rig.server.call('GET', `/chat/${chat.id}/stream`)).status).toBe(401);
  });

  it('has the rights and limits of POST /task', async () => {
    const [owner, stranger, poor] = [await rig.user(), await rig.user(), await rig.user('free', 0)];
    const threadId = newThread();
    await owner.ended(await owner.ask(threadId, say('Mine')));
    expect(await refusal(stranger, { id: threadId, messages: [question('hi')] })).toEqual([
      403,
      'forbidden',
      undefined,
    ]);
    expect((await refusal(poor, { id: newThread(), messages: [question('hi')] })).slice(0, 2)).toEqual([
      402,
      'insufficient_credits',
    ]);
    const taskId = await owner.ask(threadId, '<stall>');
    const { status, text } = await post(owner, { id: threadId, messages: [question('hi')] });
    expect([status, JSON.parse(text)]).toMatchObject([409, { error: 'task_running', taskId, reason: 'running' }]);
    await owner.call('DELETE', `/task/${taskId}`);
  });

  it('edits the message that messageId names, and drops all after it', async () => {
    const threadId = newThread();
    const [one, two, three] = [say('1'), say('2'), say('3')];
    await post(user, { id: threadId, messages: [question(one, 'q1')] });
    await post(user, { id: threadId, messages: [question(two, 'q2')] });
    const answer = (await user.messages(threadId))[1]?.id;
    expect(await refusal(user, { id: threadId, messages: [question('x')], messageId: answer })).toEqual([
      400,
      'invalid_request',
      'body.messageId',
    ]);
    await post(user, { id: threadId, messages: [question(three, 'q1')], messageId: 'q1' });
    const messages = await user.messages(threadId);
    expect(messages[0]?.id).toBe('q1');
    expect(textsOf(messages)).toEqual([
      ['user', three],
      ['assistant', '3'],
    ]);
  });

  it('generates the answer again that messageId names, or the last one', async () => {
    const threadId = newThread();
    const [one, two] = [`<${randomUUID()}>`, `<${randomUUID()}>`];
    rig.provider.on(one, { text: '1a' }, { text: '1b' });
    rig.provider.on(two, { text: '2a' }, { text: '2b' });
    const trigger = 'regenerate-message';
    const sent = [question(one, 'q1'), question(two, 'q2')];
    for (const message of sent) await post(user, { id: threadId, messages: [message] });
    await post(user, { id: threadId, messages: sent, trigger });
    expect(textsOf(await user.messages(threadId)).map(([, text]) => text)).toEqual([one, '1a', two, '2b']);
    const first = (await user.messages(threadId))[1]?.id;
    await post(user, { id: threadId, messages: sent, trigger, messageId: first });
    expect(textsOf(await user.messages(threadId)).map(([, text]) => text)).toEqual([one, '1b']);
  });
});

describe('GET /chat/:id/stream', () => {
  it('is 204 for a thread that is idle or that does not exist, and 403 for the thread of another user', async () => {
    const threadId = newThread();
    const stranger = await rig.user();
    const get = async (chatter: Chatter, id = threadId) => (await chatter.call('GET', `/chat/${id}/stream`)).status;
    expect(await get(user)).toBe(204);
    await user.ended(await user.ask(threadId, say('ok')));
    expect([await get(user), await get(stranger), await get(user, 'a%2Fb')]).toEqual([204, 403, 400]);
  });
});

describe.each(stockChats)('useChat with the default transport of AI SDK $version', ({ open }) => {
  it('sends, continues, edits and regenerates', async () => {
    const threadId = newThread();
    const chat = open(rig.url, user, threadId);
    const [one, two, three] = [say('1'), `<${randomUUID()}>`, say('3')];
    rig.provider.on(two, { text: '2a' }, { text: '2b' });
    await chat.sendMessage({ text: one });
    await chat.sendMessage({ text: two });
    expect(textsOf(chat.messages).map(([, text]) => text)).toEqual([one, '1', two, '2a']);
    await chat.regenerate();
    expect(textsOf(chat.messages).map(([, text]) => text)).toEqual([one, '1', two, '2b']);
    expect(textsOf(await user.messages(threadId))).toEqual(textsOf(chat.messages));
    await chat.sendMessage({ text: three, messageId: chat.messages[0]?.id ?? '' });
    expect(textsOf(chat.messages).map(([, text]) => text)).toEqual([three, '3']);
    const stored = await user.messages(threadId);
    expect(stored.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    expect(textsOf(stored)).toEqual(textsOf(chat.messages));
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
  });

  it('shows why a message was refused, and sends it again', async () => {
    const poor = await rig.user('free', 0);
    const threadId = newThread();
    const chat = open(rig.url, poor, threadId);
    await chat.sendMessage({ text: say('At last') });
    expect(chat.error?.message).toContain('insufficient_credits');
    await setPlanAndCredits(rig.media.database.queries<AccountTables>(), poor.userId, 'free', 10);
    await chat.regenerate();
    expect(textsOf(chat.messages).at(-1)).toEqual(['assistant', 'At last']);
    expect(textsOf(await poor.messages(threadId))).toEqual(textsOf(chat.messages));
  });

  it('replays the whole answer after a reload in the middle', async () => {
    const threadId = newThread();
    const first = open(rig.url, user, threadId);
    const sending = first.sendMessage({ text: '<stall>' });
    await expect.poll(() => textsOf(first.messages).at(-1)).toEqual(['assistant', 'Half a sen']);
    const reloaded = open(rig.url, user, threadId, await user.messages(threadId));
    const resuming = reloaded.resumeStream();
    await expect.poll(() => textsOf(reloaded.messages).at(-1)).toEqual(['assistant', 'Half a sen']);
    const { taskId } = Object(reloaded.messages.at(-1)?.metadata);
    await user.call('DELETE', `/task/${taskId}`);
    await Promise.all([sending, resuming]);
    expect(reloaded.messages.map(({ id }) => id)).toEqual(first.messages.map(({ id }) => id));
    expect(textsOf(await user.messages(threadId))).toEqual(textsOf(reloaded.messages));
    const later = open(rig.url, user, threadId, await user.messages(threadId));
    await later.resumeStream();
    expect([later.status, later.messages.length]).toEqual(['ready', 2]);
  });

  it('stop() leaves the run, which DELETE /task stops', async () => {
    const threadId = newThread();
    const chat = open(rig.url, user, threadId);
    const sending = chat.sendMessage({ text: '<stall>' });
    await expect.poll(() => textsOf(chat.messages).at(-1)).toEqual(['assistant', 'Half a sen']);
    const { taskId } = Object(chat.messages.at(-1)?.metadata);
    await chat.stop();
    await sending;
    expect((await user.task(taskId)).status).toBe('running');
    await user.call('DELETE', `/task/${taskId}`);
    expect((await user.ended(taskId)).status).toBe('aborted');
  });

  it('attaches a file by its asset and by the URL that messages have', async () => {
    const threadId = newThread();
    const chat = open(rig.url, user, threadId);
    const bytes = await makeImage('png');
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    await chat.sendMessage({ text: say('A bee'), files: [{ type: 'file', mediaType: 'image/png', url }] });
    const fileOf = async (thread: string, at: number) =>
      (await user.messages(thread))[at]?.parts.find(({ type }) => type === 'file');
    const stored = await fileOf(threadId, 0);
    const { assetId } = Object(Object(stored?.providerMetadata).atelier);
    for (const again of [`asset:${assetId}`, String(stored?.url)]) {
      const next = newThread();
      const other = open(rig.url, user, next);
      await other.sendMessage({
        text: say('Again'),
        files: [{ type: 'file', mediaType: 'image/png', url: again }],
      });
      expect((await fileOf(next, 0))?.providerMetadata).toEqual({ atelier: { assetId, thumbUrl: expect.any(String) } });
    }
  });
});
