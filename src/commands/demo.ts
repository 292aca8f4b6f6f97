/**
 * `npm run demo [-- photo.jpg [clip.mp4]]`: exercises a running system through its public HTTP interfaces, step by step
 * (docs/specification/system.md#commands). It starts nothing.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { addressesOf, type Config, readConfig, redirectOriginsOf } from '#app/config.ts';
import type { Generation } from '#client/agent/api.ts';
import type { RunChunk } from '#client/chunks.ts';
import { followRun } from '#client/run.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { outgoingFetch } from '#platform/version.ts';
import * as steps from './demo/media.ts';
import { readArguments } from './usage.ts';

const email = 'demo@example.com';

export async function demo(args: readonly string[]): Promise<number> {
  const { words } = readArguments('demo', args, { most: 2 });
  const config = readConfig(process.env, []);
  const { agent, media, memory, notify } = addressesOf(config);
  const [photo, clip] = [await steps.choosePhoto(words[0]), await steps.chooseClip(words[1])];

  const { accessToken: token, target } = await signInThroughBrowser(config, email);
  steps.printStep('Sign in', `test account ${email}, in the same way as a browser`, target);
  const userId = String(decodeJwt(token).sub);

  const assetId = await steps.showImage({ media, token }, photo);
  if (clip === undefined) steps.printStep('Video', 'skipped: ffmpeg is not installed; install it, or pass a clip');
  else await steps.showVideo({ media, token }, clip);
  await rememberAndRecall(memory, token, userId);
  await showChat({ agent, token });
  await showGeneration({ agent, token }, assetId);

  const [internalKey] = config.internal.keys;
  const isOutbox = config.notify.resendApiKey === undefined && config.notify.smtpUrl === 'outbox';
  const outbox = isOutbox ? join(config.process.dataDir, 'outbox') : undefined;
  if (internalKey === undefined) steps.printStep('Notify', 'skipped: INTERNAL_KEY is not configured');
  else await notifyUser(notify, internalKey, { userId, email }, outbox);
  return 0;
}

// Four images from an uploaded one, and a video that starts with one of them, without a conversation.

interface DemoUser {
  readonly agent: string;
  readonly token: string;
}

const patienceMs = 120_000;

async function showGeneration(user: DemoUser, assetId: string): Promise<void> {
  const prompt = 'The same landscape at night';
  const four = await order(user, '/images', { prompt, n: 4, references: [`asset:${assetId}`] });
  steps.printStep('Generate', `${four.items.length} images from the upload, ${four.credits} credits`);
  for (const { url } of four.items) await steps.open('Generated', url);
  const firstFrame = `asset:${four.items[0]?.assetId}`;
  const film = await order(user, '/videos', { prompt: 'Clouds pass by', firstFrame });
  await steps.open('Filmed', film.items[0]?.url);
}

async function order({ agent, token }: DemoUser, path: string, body: steps.JsonObject): Promise<Generation> {
  let generation = (await steps.post(`${agent}${path}`, { token }, body)) as unknown as Generation;
  const url = `${agent}/generations/${generation.id}`;
  for (let waitedMs = 0; generation.status === 'running' && waitedMs < patienceMs; waitedMs += 500) {
    await sleep(500);
    generation = (await steps.call('GET', url, { token })) as unknown as Generation;
  }
  if (generation.status === 'completed') return generation;
  throw new StartFault(`${url} is ${generation.status}: ${JSON.stringify(generation.items[0]?.failure ?? null)}`);
}

/** Stores the same fact twice and recalls it in other words. */
async function rememberAndRecall(memory: string, token: string, userId: string): Promise<void> {
  const user = { entity_id: userId, entity_type: 'user' };
  for (const content of ['I like images with warm evening light', 'I like images with very warm evening light.']) {
    const added = await steps.post(`${memory}/memory/add`, { token }, { ...user, content, type: 'preference' });
    steps.printStep(
      'Remember',
      `${content} (${added.deduplicated ? 'already known' : 'new'})`,
      `${memory}/memory/${added.id}`,
    );
  }
  const query = 'Which light should the image have?';
  const { memories } = await steps.post(`${memory}/inject`, { token }, { ...user, query, limit: 1 });
  const [found] = memories as readonly { readonly content: string; readonly score: number }[];
  if (found === undefined) throw new StartFault(`No memory was recalled for: ${query}`);
  steps.printStep('Recall', `${query} → ${found.content} (score ${found.score.toFixed(2)})`, `${memory}/inject`);
}

interface Recipient {
  readonly userId: string;
  readonly email: string;
}

/** Notifies the user and prints where the mail is. `outbox` is the local folder, if there is one. */
async function notifyUser(
  notify: string,
  internalKey: string,
  { userId, email }: Recipient,
  outbox: string | undefined,
): Promise<void> {
  const response = await steps.post(
    `${notify}/notify`,
    { internalKey },
    { type: 'daily_digest', userId, contact: { email, locale: 'en' } },
  );
  const [delivery] = (response.delivered ?? []) as readonly steps.JsonObject[];
  if (delivery === undefined)
    throw new StartFault(`${notify}/notify delivered no notification: ${JSON.stringify(response)}`);
  steps.printStep(
    'Notify',
    `daily_digest to ${email}`,
    outbox === undefined ? undefined : `${outbox}/${delivery.providerId}.eml`,
  );
}

// Signs in as a browser does: `/login`, the consent page's form, `/callback`, `/refresh`. The demo uses it.

interface SignedIn {
  readonly accessToken: string;
  /** The final redirect target of the browser. */
  readonly target: string;
}

/** Signs in with a made-up account at the running instance's local identity provider. */
export async function signInThroughBrowser(config: Config, email: string): Promise<SignedIn> {
  const { auth } = addressesOf(config);
  const [origin = auth] = redirectOriginsOf(config);
  const jar = new Map<string, string>();
  const visit = (url: string, init: RequestInit = {}) => visitWith(jar, url, init);

  const login = await visit(`${auth}/login?next=${encodeURIComponent(`${origin}/`)}`);
  const page = await visit(login.location ?? refuse(login, 'start a sign-in'));
  const form = readForm(page.text) ?? refuse(page, 'show the consent page of the local identity provider');
  const consent = await visit(new URL(form.action, page.url).href, {
    method: 'POST',
    body: new URLSearchParams({ flow: form.flow, email }),
  });
  const callback = await visit(consent.location ?? refuse(consent, 'accept the consent'));
  const target = callback.location ?? refuse(callback, 'finish the sign-in');
  if (!jar.has('ka_session')) throw new StartFault(`The sign-in failed; the browser was sent to ${target}.`);
  const refreshed = await visit(`${auth}/refresh`, { method: 'POST', headers: { origin } });
  const { access_token: accessToken } = JSON.parse(refreshed.text) as { readonly access_token?: string };
  return { accessToken: accessToken ?? refuse(refreshed, 'return an access token'), target };
}

interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly location: string | undefined;
}

async function visitWith(jar: Map<string, string>, url: string, init: RequestInit): Promise<Page> {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await outgoingFetch(url, {
    ...init,
    redirect: 'manual',
    headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    signal: AbortSignal.timeout(15_000),
  }).catch((cause: Error) => {
    throw new StartFault(
      `${new URL(url).origin} is not responding. Is \`npm start\` running, with the same ATELIER_PORT_BASE? (${cause.message})`,
    );
  });
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (line.includes('Max-Age=0')) jar.delete(name);
    else jar.set(name, value);
  }
  const location = response.headers.get('location');
  return {
    url,
    status: response.status,
    text: await response.text(),
    location: location === null ? undefined : new URL(location, url).href,
  };
}

function readForm(html: string): { readonly action: string; readonly flow: string } | undefined {
  const action = /<form method="post" action="([^"]+)">/.exec(html)?.[1];
  const flow = /name="flow" value="([^"]+)"/.exec(html)?.[1];
  return action === undefined || flow === undefined ? undefined : { action, flow };
}

function refuse({ url, status }: Page, what: string): never {
  throw new StartFault(`${new URL(url).origin} did not ${what} (status ${status}).`);
}

// A conversation: the user states a preference, then requests an image and a video in plain language.

async function showChat(user: DemoUser): Promise<void> {
  const threadId = `demo-${randomUUID()}`;
  await runTurn(user, threadId, 'Remember that I like lighthouses.');
  await runTurn(user, threadId, 'What do you know about what I like?');
  await runTurn(user, threadId, 'Make an image and a video of a lighthouse at dusk.');
  const media = await finished(user, threadId);
  for (const { kind, url, status, failure } of media) {
    if (url) await steps.open(kind === 'video' ? 'Video' : 'Image', url);
    else steps.printStep('Skipped', `the ${kind} is ${status}: ${JSON.stringify(failure ?? null)}`);
  }
}

/** Runs one turn and prints its events as they arrive. */
async function runTurn({ agent, token }: DemoUser, threadId: string, text: string): Promise<void> {
  const { taskId } = await steps.post(`${agent}/task`, { token }, { threadId, text });
  steps.printStep('Say', text, `${agent}/stream/${taskId}`);
  const access = { url: agent, credential: { accessToken: () => token } };
  let events = 0;
  let reply = '';
  for await (const chunk of followRun(access, String(taskId))) {
    events += 1;
    if (chunk.type === 'text-delta') reply += chunk.delta;
    else printChunk(chunk);
  }
  steps.printStep('Answer', `${reply} (${events} events)`);
}

function printChunk(chunk: RunChunk): void {
  if (chunk.type === 'tool-input-available')
    steps.printStep('Tool', `${chunk.toolName} ${JSON.stringify(chunk.input)}`);
  else if (chunk.type === 'tool-output-error' || chunk.type === 'error')
    throw new StartFault(`The run failed: ${chunk.errorText}`);
}

type Media = steps.JsonObject & { readonly kind: string };

/** Returns the media that the tools created, once none of it is in progress. */
async function finished({ agent, token }: DemoUser, threadId: string): Promise<readonly Media[]> {
  const url = `${agent}/messages/${threadId}`;
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const { messages } = await steps.call('GET', url, { token });
    const media = mediaIn(messages as readonly { readonly parts: readonly steps.JsonObject[] }[]);
    if (!media.some(({ status }) => status === 'queued' || status === 'processing')) {
      steps.printStep(
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

function mediaIn(messages: readonly { readonly parts: readonly steps.JsonObject[] }[]): readonly Media[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap(({ type, output }) => {
      const isMedia = String(type).startsWith('tool-') && typeof output === 'object' && output !== null;
      return isMedia && 'kind' in output ? [output as Media] : [];
    }),
  );
}
