/**
 * Checks the providers of images and videos with orders that every provider refuses, because their content is missing. A refusal
 * shows that the URL, the key and usually the model are right, and costs nothing.
 */
import { z } from 'zod';
import { providerOf } from '#agent/generation/opening.ts';
import type { ImageEntry, VideoEntry } from '#agent/modelsfile.ts';
import { type ImageGenerator, OrderRefused, ProviderFailed, type VideoGenerator } from '#agent/providers/generators.ts';
import { type GeneratorSettings, openSdkImages, openSdkVideos } from '#agent/providers/open.ts';
import { callProvider, openImageProvider, openVideoProvider } from '#agent/providers/openaimedia.ts';
import type { Config } from '#app/config.ts';
import { parseJson } from '#platform/json.ts';
import { isKeyRefusal, type Outcome, ofParts, placeOf, reasonOf, Warning } from './probing.ts';

const timeoutMs = 15_000;

/** A provider to check, with the names of its settings. */
interface Target extends GeneratorSettings {
  readonly id: string;
  readonly editName?: string | undefined;
  readonly settings: {
    readonly url: string;
    readonly key: string;
    readonly name: string;
    readonly editName: string;
  };
}

const offline = 'the offline renderer';

export function checkImageModel({ imageModel, model: { file } }: Config): Promise<Outcome> {
  return checkTargets(targetsOf('image', file, imageModel), async (target) => {
    const { provider, name, editName } = target;
    if (provider === 'openai-compatible') {
      await assertRefused(target, requestImage(openImageProvider({ ...target, editName }, timeoutMs)));
      await assertListed(target);
      return;
    }
    const generator = await openSdkImages({ ...target, editName, provider }, timeoutMs, withoutContent);
    await assertRefused(target, requestImage(generator));
    const edits = { ...target, name: editName, settings: { ...target.settings, name: target.settings.editName } };
    if (editName !== undefined && editName !== name) await assertRefused(edits, requestEdit(generator));
  });
}

export function checkVideoModel({ videoModel, model: { file } }: Config): Promise<Outcome> {
  return checkTargets(targetsOf('video', file, videoModel), async (target) => {
    const { provider } = target;
    if (provider === 'openai-compatible') {
      await assertRefused(target, requestVideo(openVideoProvider(target)));
      await assertListed(target);
      return;
    }
    const generator = await openSdkVideos({ ...target, provider }, timeoutMs, withoutContent);
    await assertRefused(target, requestVideo(generator));
  });
}

/** The models of this kind in MODELS_FILE or, if it has none, the one of the settings. */
function targetsOf(
  kind: 'image' | 'video',
  file: Config['model']['file'] = [],
  settings: GeneratorSettings & { readonly editName?: string | undefined },
): readonly Target[] {
  const entries = file.filter((entry): entry is ImageEntry | VideoEntry => entry.kind === kind);
  const prefix = kind === 'image' ? 'IMAGE_MODEL' : 'VIDEO_MODEL';
  const names = { url: `${prefix}_BASE_URL`, key: `${prefix}_API_KEY` };
  if (entries.length === 0)
    return [{ ...settings, id: kind, settings: { ...names, name: `${prefix}_NAME`, editName: `${prefix}_EDIT_NAME` } }];
  return entries.map((entry) => {
    const place = `the entry ${entry.id} of MODELS_FILE`;
    return {
      id: entry.id,
      ...providerOf((variable) => process.env[variable], entry),
      ...(entry.kind === 'image' && { editName: entry.editModel }),
      settings: { url: place, key: entry.apiKeyEnv ?? place, name: place, editName: place },
    };
  });
}

function checkTargets(targets: readonly Target[], check: (target: Target) => Promise<void>): Promise<Outcome> {
  const checkOne = async (target: Target) => {
    if (target.provider === 'openai-compatible' && target.url === 'offline') return offline;
    await check(target);
    return `${target.name} at ${placeOfTarget(target)}`;
  };
  return ofParts(targets.map((target) => [target.id, checkOne(target)]));
}

type Request = (signal: AbortSignal) => Promise<unknown>;

const requestImage =
  (generator: ImageGenerator): Request =>
  (signal) =>
    generator.generate({ prompt: '', ratio: '1:1', signal });

const requestEdit =
  (generator: ImageGenerator): Request =>
  (signal) =>
    generator.edit({ prompt: '', sources: [{ bytes: Buffer.alloc(0), mime: 'image/png' }], signal });

const requestVideo =
  (generator: VideoGenerator): Request =>
  async (signal) => {
    const ordered = await generator.order({ prompt: '', ratio: '16:9', signal });
    if ('providerId' in ordered) await generator.cancel?.(ordered.providerId, signal);
    throw new Warning('an order without a prompt was accepted, and may cost something');
  };

/**
 * Some providers accept an empty prompt, and some have a default for a missing one. None accepts a body without content. The
 * package still chooses the URL and the headers.
 */
function withoutContent(send: typeof fetch): typeof fetch {
  return (url, init) => {
    if (typeof init?.body !== 'string') return send(url, init);
    const { model, version } = Object(parseJson(Buffer.from(init.body)));
    return send(url, { ...init, body: JSON.stringify({ model, version }) });
  };
}

const placeOfTarget = ({ url, provider }: Target) => (url === 'offline' ? `the provider ${provider}` : placeOf(url));

async function assertRefused(target: Target, order: Request): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await order(signal);
  } catch (error) {
    if (error instanceof Warning) throw new Warning(`${placeOfTarget(target)}: ${error.message}`);
    const fault = explain(target, error, signal);
    if (fault !== undefined) throw fault;
  }
}

/** Returns `undefined` for a refusal of the order itself. */
function explain(target: Target, error: unknown, signal: AbortSignal): Error | undefined {
  const { name, settings } = target;
  const place = placeOfTarget(target);
  const both = [...new Set([settings.url, settings.name])].join(' and ');
  if (signal.aborted) return new Error(`${place} did not respond within ${timeoutMs / 1000} s; check ${settings.url}`);
  if (error instanceof OrderRefused) {
    if (isKeyRefusal(error.message)) return new Error(`${place} rejects the key; check ${settings.key}`);
    if (/memory|overload|capacity/i.test(error.message))
      return new Warning(`${place} takes no orders now (${error.message}), so the model could not be checked`);
    if (isModelUnknown(error.message))
      return new Error(`${place} does not know the model ${name} (${error.message}); check ${settings.name}`);
    if (error.message.endsWith('no reason given'))
      return new Warning(`${place} refuses an empty order without a reason, so key and model could not be checked`);
    return undefined;
  }
  if (!(error instanceof ProviderFailed)) return error as Error;
  const { status } = error;
  if (status === 401 || status === 403) return new Error(`${place} rejects the key (${status}); check ${settings.key}`);
  if (status === 429) return new Warning(`${place} returns 429: too many requests, or the quota is used up`);
  if (status !== undefined) return new Error(`${place} returns ${status} for the model ${name}; check ${both}`);
  if (/needs a key/.test(error.message)) return new Error(`${place} needs a key; set ${settings.key}`);
  return new Error(`${place} does not work (${reasonOf(error)}); check ${both}`);
}

/** The order is refused for its prompt, and not for the model. */
function isModelUnknown(reason: string): boolean {
  if (/prompt/i.test(reason)) return false;
  return /\bmodel\b.*\b(?:exist|found|unknown|invalid|support|available|access)|\b(?:unknown|invalid|unsupported|no such)\b.*\bmodel\b/i.test(
    reason,
  );
}

const modelList = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/** Some providers refuse the prompt before they look for the model. Some list only their models of texts. */
async function assertListed(target: Target): Promise<void> {
  const { name, settings } = target;
  const call = { method: 'GET', path: '/models', timeoutMs, maxBytes: 4 * 1024 * 1024 } as const;
  const listed = await callProvider(target, 'model', { ...call, signal: AbortSignal.timeout(timeoutMs) }).then(
    ({ bytes }) => modelList.safeParse(parseJson(bytes)).data?.data,
    // Not every server has a list.
    () => undefined,
  );
  if (name === undefined || listed === undefined || listed.some(({ id }) => id === name)) return;
  throw new Warning(`${placeOfTarget(target)} does not list the model ${name}; check ${settings.name}`);
}
