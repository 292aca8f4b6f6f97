/** Titles that a model makes after the first answer of a thread. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { messagesOf, refusal, textStream } from '../../../test/agent/wire.fixture.ts';
import { titleOf } from './titling.ts';

let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  rig = await startScripted();
  user = await rig.user('pro', 1000);
});
afterAll(() => rig.close());

const tokens = { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 };
let questions = 0;
/** On a machine that is busy. */
const patient = { timeout: 15_000 };

type Titles = Parameters<typeof rig.provider.onTitle>[1] | readonly Parameters<typeof rig.provider.onTitle>[1][];

/** Sends a question. Requests for a title of question and answer get `titles`, one after the other. */
async function tell(titles: Titles, threadId = newThread(), chatter = user) {
  questions += 1;
  const text = `<question ${questions}> about bees`;
  rig.provider.on(`<question ${questions}>`, { text: 'Bees dance.' });
  rig.provider.onTitle(`<question ${questions}>`, ...[titles].flat());
  await chatter.ended(await chatter.ask(threadId, text));
  return { threadId, text };
}
const titleIn = async (threadId: string) => (await user.call('GET', `/threads/${threadId}`)).body.title;
const requestsFor = (text: string) =>
  rig.provider.titles.filter((one) => JSON.stringify(messagesOf(one)).includes(text.slice(0, 14)));
const requested = (text: string) => expect.poll(() => requestsFor(text).length, patient).toBe(1);

describe('a title', () => {
  it('replaces the first words after the first answer, and is made of both', async () => {
    const { threadId, text } = await tell({ text: '"The dance of bees."\n' });
    await expect.poll(() => titleIn(threadId), patient).toBe('The dance of bees');
    const [request] = requestsFor(text);
    const sent = JSON.stringify(request && messagesOf(request));
    expect([sent.includes(text), sent.includes('Bees dance.')]).toEqual([true, true]);
  });

  it('is made once', async () => {
    const { threadId, text } = await tell({ text: 'Dances' });
    await expect.poll(() => titleIn(threadId), patient).toBe('Dances');
    const second = await tell({ text: 'Other dances' }, threadId);
    const third = await tell({ text: 'A thread that is made later' });
    await expect.poll(() => titleIn(third.threadId), patient).toBe('A thread that is made later');
    expect([requestsFor(text).length, requestsFor(second.text).length]).toEqual([1, 0]);
    expect(await titleIn(threadId)).toBe('Dances');
  });

  it('is not made for a temporary thread', async () => {
    const threadId = newThread();
    rig.provider.on('<whispers>', { text: 'Bees dance.' });
    const { body } = await user.call('POST', '/task', { threadId, text: 'Some <whispers>', temporary: true });
    await user.ended(String(body.taskId));
    const later = await tell({ text: 'A later title' });
    await expect.poll(() => titleIn(later.threadId), patient).toBe('A later title');
    expect(requestsFor('Some <whispers>')).toEqual([]);
  });

  it('is free: its tokens are counted, but no run', async () => {
    const own = await rig.user('pro', 10);
    await tell(textStream('Dances', 'stop', tokens), newThread(), own);
    const days = async () => (await own.call<{ days: Record<string, unknown>[] }>('GET', '/usage')).body.days;
    await expect.poll(async () => (await days())[0]?.inputTokens, patient).toBe(30);
    expect(await days()).toMatchObject([{ model: 'a-model', runs: 1, inputTokens: 30, outputTokens: 4, credits: 1 }]);
    expect(await rig.credits(own)).toBe(9);
    const counted = async () => {
      const metrics = await (await fetch(`${rig.url}/metrics`)).text();
      return metrics.split('\n').filter((line) => line.startsWith('agent_tokens_total{'));
    };
    await expect.poll(counted, patient).toContainEqual(expect.stringMatching(/"input".* 30$/));
  });

  it('does not replace a title that the user sets meanwhile', async () => {
    const threadId = newThread();
    const naming = Promise.withResolvers<unknown>();
    // The model has a title only at its second attempt.
    const name = () => {
      naming.resolve(user.call('PATCH', `/threads/${threadId}`, { title: 'Mine' }));
      return refusal(429, { 'retry-after': '1' });
    };
    const { text } = await tell([name, { text: 'Dances' }], threadId);
    await naming.promise;
    await expect.poll(() => requestsFor(text).length, patient).toBe(2);
    const other = await tell({ text: 'Later' });
    await expect.poll(() => titleIn(other.threadId), patient).toBe('Later');
    expect(await titleIn(threadId)).toBe('Mine');
  });

  it('is unchanged if the model fails', async () => {
    const { threadId, text } = await tell(refusal(401));
    await requested(text);
    const empty = await tell({ text: ' \n ' });
    await requested(empty.text);
    const other = await tell({ text: 'Later' });
    await expect.poll(() => titleIn(other.threadId), patient).toBe('Later');
    expect(await titleIn(threadId)).toBe(text);
    expect(await titleIn(empty.threadId)).toBe(empty.text);
    const jobs = await (await fetch(`${rig.url}/metrics`)).text();
    expect(jobs).not.toMatch(/queue="agent\/make-title",status="dead"\} [1-9]/);
  });

  it('is not generated for a thread that was deleted', async () => {
    const threadId = newThread();
    const deletion = Promise.withResolvers<unknown>();
    const remove = () => {
      deletion.resolve(user.call('DELETE', `/threads/${threadId}`));
      return refusal(429, { 'retry-after': '1' });
    };
    const { text } = await tell([remove, { text: 'Dances' }], threadId);
    await deletion.promise;
    await expect.poll(() => requestsFor(text).length, patient).toBe(2);
    const next = await user.ask(threadId, '/slow');
    await user.ended(next);
    expect(await titleIn(threadId)).toBe('/slow');
  });
});

it.each([
  ['"Bees."', 'Bees'],
  ['**Title: The bees**', 'The bees'],
  ['The `dance` of **the bees', 'The dance of the bees'],
  ['# Bees\n\nMore text', 'Bees'],
  ['« Les abeilles »', 'Les abeilles'],
  ['a'.repeat(200), 'a'.repeat(80)],
  ['C# and F#', 'C# and F#'],
  ['\u0000', ''],
])('takes the title from %j', (answer, title) => {
  expect(titleOf(answer)).toBe(title);
});
