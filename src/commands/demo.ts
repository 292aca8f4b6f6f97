/**
 * `npm run demo [-- photo.jpg [clip.mp4]]`: exercises a running system through its public HTTP interfaces, step by step
 * (docs/specification/system.md#commands). It starts nothing.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { addressesOf, type Config, readConfig, redirectOriginsOf } from '#app/config.ts';
import type { Generation, ThreadMessage } from '#client/agent/api.ts';
import { type Atelier, createAtelier } from '#client/atelier.ts';
import type { Access } from '#client/calling.ts';
import type { RunChunk } from '#client/chunks.ts';
import { AtelierError } from '#client/errors.ts';
import { followRun } from '#client/run.ts';
import { StartFault } from '#platform/lifecycle.ts';
import * as steps from './demo/media.ts';
import { readArguments } from './usage.ts';

const email = 'demo@example.com';

export async function demo(args: readonly string[]): Promise<number> {
  const { words } = readArguments('demo', args, { most: 2 });
  const config = readConfig(process.env, []);
  const [photo, clip] = [await steps.choosePhoto(words[0]), await steps.chooseClip(words[1])];
  try {
    await showAll(config, photo, clip);
  } catch (error) {
    if (!(error instanceof AtelierError)) throw error;
    if (error.cause instanceof StartFault) throw error.cause;
    throw new StartFault(`${error.message} (${error.code}, request ${error.requestId})`, { cause: error });
  }
  return 0;
}

async function showAll(config: Config, photo: steps.MediaFile, clip: steps.MediaFile | undefined): Promise<void> {
  const urls = addressesOf(config);
  const { accessToken: token, target } = await signInThroughBrowser(config, email);
  steps.printStep('Sign in', `test account ${email}, in the same way as a browser`, target);
  const userId = String(decodeJwt(token).sub);
  const credential = { accessToken: () => token };
  const atelier = createAtelier({ urls, credential, fetch: steps.reach });

  const assetId = await steps.showImage(atelier.media, photo);
  if (clip === undefined) steps.printStep('Video', 'skipped: ffmpeg is not installed; install it, or pass a clip');
  else await steps.showVideo(atelier.media, urls.media, clip);
  await rememberAndRecall(atelier, urls.memory, userId);
  await showChat(atelier, { url: urls.agent, credential, fetch: steps.reach });
  await showGeneration(atelier, assetId);

  const [internalKey] = config.internal.keys;
  const isOutbox = config.notify.resendApiKey === undefined && config.notify.smtpUrl === 'outbox';
  const outbox = isOutbox ? join(config.process.dataDir, 'outbox') : undefined;
  if (internalKey === undefined) steps.printStep('Notify', 'skipped: INTERNAL_KEY is not configured');
  else await notifyUser(urls, internalKey, userId, outbox);
}

type Client = Atelier<{ readonly agent: string; readonly memory: string }>;

// Four images from an uploaded one, and a video that starts with one of them, without a conversation.

async function showGeneration({ images, videos }: Client, assetId: string): Promise<void> {
  const prompt = 'The same landscape at night';
  const four = completed(await images.generate({ prompt, n: 4, references: [`asset:${assetId}`] }));
  steps.printStep('Generate', `${four.items.length} images from the upload, ${four.credits} credits`);
  for (const { url } of four.items) await steps.open('Generated', url);
  const firstFrame = `asset:${four.items[0]?.assetId}`;
  const film = completed(await videos.generate({ prompt: 'Clouds pass by', firstFrame }));
  await steps.open('Filmed', film.items[0]?.url);
}

function completed(generation: Generation): Generation {
  const { id, status, items } = generation;
  if (status === 'completed') return generation;
  throw new StartFault(`The generation ${id} is ${status}: ${JSON.stringify(items[0]?.failure ?? null)}`);
}

/** Stores the same fact twice and recalls it in other words. */
async function rememberAndRecall({ memory }: Client, url: string, userId: string): Promise<void> {
  const user = { entity_id: userId, entity_type: 'user' } as const;
  for (const content of ['I like images with warm evening light', 'I like images with very warm evening light.']) {
    const { id, deduplicated } = await memory.addMemory({ ...user, content, type: 'preference' });
    steps.printStep('Remember', `${content} (${deduplicated ? 'already known' : 'new'})`, `${url}/memory/${id}`);
  }
  const query = 'Which light should the image have?';
  const [found] = (await memory.inject({ ...user, query, limit: 1 })).memories;
  if (found === undefined) throw new StartFault(`No memory was recalled for: ${query}`);
  steps.printStep('Recall', `${query} → ${found.content} (score ${found.score.toFixed(2)})`, `${url}/inject`);
}

/** Notifies the user and prints where the mail is. `outbox` is the local folder, if there is one. */
async function notifyUser(
  { notify }: { readonly notify: string },
  internalKey: string,
  userId: string,
  outbox: string | undefined,
): Promise<void> {
  const service = createAtelier({ urls: { notify }, credential: { internalKey }, fetch: steps.reach }).notify;
  const answer = await service.notify({ type: 'daily_digest', userId, contact: { email, locale: 'en' } });
  const [delivery] = 'delivered' in answer ? answer.delivered : [];
  if (delivery === undefined) throw new StartFault(`No notification was delivered: ${JSON.stringify(answer)}`);
  steps.printStep('Notify', `daily_digest to ${email}`, outbox && `${outbox}/${delivery.providerId}.eml`);
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
  const response = await steps.reach(url, {
    ...init,
    redirect: 'manual',
    headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    signal: AbortSignal.timeout(15_000),
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

async function showChat({ agent }: Client, access: Access): Promise<void> {
  const threadId = `demo-${randomUUID()}`;
  async function say(text: string): Promise<void> {
    const { taskId } = await agent.startTask({ threadId, text });
    steps.printStep('Say', text, `${access.url}/stream/${taskId}`);
    await printRun(followRun(access, taskId));
  }
  await say('Remember that I like lighthouses.');
  await say('What do you know about what I like?');
  await say('Make an image and a video of a lighthouse at dusk.');
  const address = `${access.url}/messages/${threadId}`;
  const { messages } = await steps.waitUntil(
    address,
    () => agent.readMessages(threadId),
    ({ messages }) => !mediaIn(messages).some(({ status }) => status === 'queued' || status === 'processing'),
  );
  const media = mediaIn(messages);
  steps.printStep('Messages', `${messages.length} in the thread, ${media.length} with media`, address);
  for (const { kind, url, status, failure } of media) {
    if (url) await steps.open(kind === 'video' ? 'Video' : 'Image', url);
    else steps.printStep('Skipped', `the ${kind} is ${status}: ${JSON.stringify(failure ?? null)}`);
  }
}

/** Prints the events of a run as they arrive. */
async function printRun(chunks: AsyncIterable<RunChunk>): Promise<void> {
  let events = 0;
  let reply = '';
  for await (const chunk of chunks) {
    events += 1;
    if (chunk.type === 'text-delta') reply += chunk.delta;
    else if (chunk.type === 'tool-input-available')
      steps.printStep('Tool', `${chunk.toolName} ${JSON.stringify(chunk.input)}`);
    else if (chunk.type === 'tool-output-error' || chunk.type === 'error')
      throw new StartFault(`The run failed: ${chunk.errorText}`);
  }
  steps.printStep('Answer', `${reply} (${events} events)`);
}

interface MadeMedia {
  readonly kind: string;
  readonly status?: string;
  readonly url?: string;
  readonly failure?: unknown;
}

/** What the tools created. */
const mediaIn = (messages: readonly ThreadMessage[]): readonly MadeMedia[] =>
  messages
    .flatMap(({ parts }) => parts)
    .filter(({ type, output }) => type.startsWith('tool-') && 'kind' in Object(output))
    .map(({ output }) => output as MadeMedia);
