/** A conversation: the user states a preference, then requests an image and a video in plain language. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFault } from '#platform/lifecycle.ts';
import type { RunChunk } from '../../client/chunks.ts';
import { followRun } from '../../client/run.ts';
import { call, type JsonObject, open, post, printStep } from './calls.ts';

interface DemoUser {
  readonly agent: string;
  readonly token: string;
}

/** The renderer or a provider creates the media, which takes time. */
const patienceMs = 120_000;

export async function showChat(user: DemoUser): Promise<void> {
  const threadId = `demo-${randomUUID()}`;
  await runTurn(user, threadId, 'Remember that I like lighthouses.');
  await runTurn(user, threadId, 'What do you know about what I like?');
  await runTurn(user, threadId, 'Make an image and a video of a lighthouse at dusk.');
  const media = await finished(user, threadId);
  for (const { kind, url, status, failure } of media) {
    if (url) await open(kind === 'video' ? 'Video' : 'Image', url);
    else printStep('Skipped', `the ${kind} is ${status}: ${JSON.stringify(failure ?? null)}`);
  }
}

/** Runs one turn and prints its events as they arrive. */
async function runTurn({ agent, token }: DemoUser, threadId: string, text: string): Promise<void> {
  const { taskId } = await post(`${agent}/task`, { token }, { threadId, text });
  printStep('Say', text, `${agent}/stream/${taskId}`);
  const access = { url: agent, credential: { accessToken: () => token } };
  let events = 0;
  let reply = '';
  for await (const chunk of followRun(access, String(taskId))) {
    events += 1;
    if (chunk.type === 'text-delta') reply += chunk.delta;
    else printChunk(chunk);
  }
  printStep('Answer', `${reply} (${events} events)`);
}

function printChunk(chunk: RunChunk): void {
  if (chunk.type === 'tool-input-available') printStep('Tool', `${chunk.toolName} ${JSON.stringify(chunk.input)}`);
  else if (chunk.type === 'tool-output-error' || chunk.type === 'error')
    throw new StartFault(`The run failed: ${chunk.errorText}`);
}

type Media = JsonObject & { readonly kind: string };

/** Returns the media that the tools created, once none of it is in progress. */
async function finished({ agent, token }: DemoUser, threadId: string): Promise<readonly Media[]> {
  const url = `${agent}/messages/${threadId}`;
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const { messages } = await call('GET', url, { token });
    const media = mediaIn(messages as readonly { readonly parts: readonly JsonObject[] }[]);
    if (!media.some(({ status }) => status === 'queued' || status === 'processing')) {
      printStep(
        'Messages',
        `${(messages as readonly unknown[]).length} in the thread, ${media.length} with media`,
        url,
      );
      return media;
    }
    await sleep(500);
  }
  throw new StartFault(`${url}: not finished after ${patienceMs / 1000} s.`);
}

function mediaIn(messages: readonly { readonly parts: readonly JsonObject[] }[]): readonly Media[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap(({ type, output }) => {
      const isMedia = String(type).startsWith('tool-') && typeof output === 'object' && output !== null;
      return isMedia && 'kind' in output ? [output as Media] : [];
    }),
  );
}
