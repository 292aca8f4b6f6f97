/** A conversation: something to remember, then a picture and a video that are asked for in plain words. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFault } from '#platform/lifecycle.ts';
import type { RunChunk } from '../../client/chunks.ts';
import { followRun } from '../../client/run.ts';
import { type Answer, call, open, post, tell } from './calls.ts';

interface Who {
  readonly agent: string;
  readonly token: string;
}

/** Made by the renderer or a provider, which takes its time. */
const patienceMs = 120_000;

export async function showChat(who: Who): Promise<void> {
  const threadId = `demo-${randomUUID()}`;
  await say(who, threadId, 'Remember that I like lighthouses.');
  await say(who, threadId, 'What do you know about what I like?');
  await say(who, threadId, 'Make a picture and a video of a lighthouse at dusk.');
  const media = await finished(who, threadId);
  for (const { kind, url, status, failure } of media) {
    if (url) await open(kind === 'video' ? 'Video' : 'Picture', url);
    else tell('Left out', `the ${kind} is ${status}: ${JSON.stringify(failure ?? null)}`);
  }
}

/** One turn, told as it comes. */
async function say({ agent, token }: Who, threadId: string, text: string): Promise<void> {
  const { taskId } = await post(`${agent}/task`, { token }, { threadId, text });
  tell('Say', text, `${agent}/stream/${taskId}`);
  const access = { url: agent, credential: { accessToken: () => token } };
  let events = 0;
  let answer = '';
  for await (const chunk of followRun(access, String(taskId))) {
    events += 1;
    if (chunk.type === 'text-delta') answer += chunk.delta;
    else tellChunk(chunk);
  }
  tell('Answer', `${answer} (${events} events)`);
}

function tellChunk(chunk: RunChunk): void {
  if (chunk.type === 'tool-input-available') tell('Tool', `${chunk.toolName} ${JSON.stringify(chunk.input)}`);
  else if (chunk.type === 'tool-output-error' || chunk.type === 'error')
    throw new StartFault(`The run failed: ${chunk.errorText}`);
}

type Media = Answer & { readonly kind: string };

/** What the tools made, once nothing of it is under way. */
async function finished({ agent, token }: Who, threadId: string): Promise<readonly Media[]> {
  const url = `${agent}/messages/${threadId}`;
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const { messages } = await call('GET', url, { token });
    const media = mediaIn(messages as readonly { readonly parts: readonly Answer[] }[]);
    if (!media.some(({ status }) => status === 'queued' || status === 'processing')) {
      tell('Messages', `${(messages as readonly unknown[]).length} in the thread, ${media.length} with media`, url);
      return media;
    }
    await sleep(500);
  }
  throw new StartFault(`${url}: what was asked for is not done after ${patienceMs / 1000} s.`);
}

function mediaIn(messages: readonly { readonly parts: readonly Answer[] }[]): readonly Media[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap(({ type, output }) => {
      const isMedia = String(type).startsWith('tool-') && typeof output === 'object' && output !== null;
      return isMedia && 'kind' in output ? [output as Media] : [];
    }),
  );
}
