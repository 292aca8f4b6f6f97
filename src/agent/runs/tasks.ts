/** Starts runs, and aborts them in whichever process they are executed. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '#platform/access/caller.ts';
import { digestOf } from '#platform/http/idempotency.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { TaskRequest } from '../api.ts';
import { type Answers, startAnswered } from '../approvals/answering.ts';
import { isTextType, readDataUrl, unreadable } from '../attachments.ts';
import { starts } from '../billing/usage.ts';
import { assertMedia } from '../generation/catalogue.ts';
import { modelOf } from '../providers/models.ts';
import { findUnreadable, keep, type LibraryDeps, Refused } from '../services/library.ts';
import type { ServingContext } from '../servingcontext.ts';
import { planContinuation, readRecord } from '../steps/recovery.ts';
import { cancelVideosOfTask } from '../videos/ending.ts';
import { endQueued, startNext } from './queue.ts';
import { checkStart, readRun, startOnce, startRun } from './runs.ts';
import * as store from './runstore.ts';

/** How long a start waits until the run that it interrupts has ended. After that, it starts later. */
const interruptWaitMs = 10_000;
const lookEveryMs = 40;

/** Each message is a task id; the process that executes the run aborts it. */
export const abortTopic = 'abort';

/** As `startTask`, once for each `Idempotency-Key` of a user (`startOnce`). */
export async function startTaskOnce(
  deps: ServingContext,
  userId: string,
  request: TaskRequest,
  key: string | undefined,
): Promise<store.Started> {
  // Servers name the user in the body, and tokens do not: both are the same request.
  const keyed = key === undefined ? undefined : { userId, key, bodyDigest: digestOf({ ...request, userId: null }) };
  return startOnce(deps.db, keyed, async () => asStarted(await startTask(deps, userId, request, keyed)));
}

const asStarted = ({ taskId, threadId, status }: store.Run): store.Started => ({
  taskId,
  threadId,
  queued: status === 'queued',
});

/** Where the stream of a run that goes on in a message has the message behind it. */
export async function findBeginning({ db }: ServingContext, taskId: string): Promise<string | undefined> {
  const [run] = await store.listRuns(db, [taskId]);
  return run === undefined || run.replayed === null ? undefined : `${run.epochMs}-${run.replayed}`;
}

/**
 * As `startRun`; also 400 for an unknown model and for attached assets that do not exist, 403 for those of others, and 429
 * `rate_limited` for a user with too many waiting starts. Throws KeyTaken only if `keyed` is given.
 */
export async function startTask(
  deps: ServingContext,
  userId: string,
  request: TaskRequest,
  keyed?: store.KeyedStart,
): Promise<store.Run> {
  if (request.approvals) return goOn(deps, userId, { threadId: request.threadId, approvals: request.approvals }, keyed);
  const chosen = deps.models.pick(request.model ?? undefined);
  assertMedia(deps.catalogue, request.media ?? {});
  await deps.prompts.assertAllowed(userId, textsOf(request));
  const message = await resolveAttachments(deps, userId, request, (checked) =>
    starts.run(userId, () => checkStart(deps, userId, { ...request, message: checked }, chosen, keyed)),
  );
  const start = () => startRun(deps, deps.lease, userId, { ...request, message }, chosen, keyed);
  const run = await starts.run(userId, start);
  if (run.status !== 'queued') await deps.executor.start(run, chosen);
  else if (request.whenBusy === 'interrupt') return interrupt(deps, run);
  return run;
}

/** Goes on after approvals, in their message. Throws as `startAnswered`. */
export async function goOn(
  deps: ServingContext,
  userId: string,
  answers: Answers,
  keyed?: store.KeyedStart,
): Promise<store.Run> {
  await deps.prompts.assertAllowed(
    userId,
    answers.approvals.map(({ reason }) => reason ?? ''),
  );
  const run = await starts.run(userId, () => startAnswered(deps, deps.lease, userId, answers, keyed));
  const continuation = await planContinuation(deps, run, await readRecord(deps, run));
  await deps.executor.start(run, modelOf(deps.models, run.model) ?? deps.models.pick(undefined), continuation);
  return run;
}

/** Stops the run in progress and starts the queued run in its place. Returns it as it is then. */
async function interrupt(deps: ServingContext, queued: store.Run): Promise<store.Run> {
  const { threadId, taskId } = queued;
  const running = await store.findRunningOf(deps.db, threadId);
  // If the queued run was the next one, it may be running by now.
  if (running !== undefined && running.taskId !== taskId) stopEverywhere(deps, running.taskId);
  for (const since = performance.now(); performance.now() - since < interruptWaitMs; await sleep(lookEveryMs)) {
    await startNext(deps, threadId);
    const [run] = await store.listRuns(deps.db, [taskId]);
    if (run?.status !== 'queued') return run ?? queued;
  }
  return queued;
}

/**
 * Stops a run, or cancels the videos that a run which has ended still has made. Throws 404 and 403 as `readRun`. The run may
 * still end a moment after this returns.
 */
export async function abortTask(deps: ServingContext, caller: Caller, taskId: string): Promise<void> {
  const run = await readRun(deps, caller, taskId);
  if (run.status === 'queued' && (await endQueued(deps, run, { status: 'aborted', error: null }))) return;
  // A queued run may have started in the meantime.
  if (run.status === 'running' || run.status === 'queued') await stopRun(deps, run.taskId);
  else await cancelVideosOfTask(deps, run);
}

/** Requests the end of a run from whichever process executes it. */
export async function stopRun(deps: ServingContext, taskId: string): Promise<void> {
  await store.requestAbort(deps.db, taskId);
  stopEverywhere(deps, taskId);
}

function stopEverywhere({ executor, pubsub }: ServingContext, taskId: string): void {
  executor.abort(taskId);
  pubsub.publish(abortTopic, taskId);
}

// The texts of a user's message that a model reads.

/** Its texts, the names of its files, and text files in `data:` URLs. */
function textsOf({ message, text }: Pick<TaskRequest, 'message' | 'text'>): readonly string[] {
  const parts = message?.parts ?? [];
  return [text ?? '', ...parts.flatMap((part) => (part.type === 'text' ? part.text : textsOfFile(part)))];
}

type FilePart = Extract<NonNullable<TaskRequest['message']>['parts'][number], { type: 'file' }>;

function textsOfFile({ filename, mediaType, url }: FilePart): readonly string[] {
  const file = isTextType(mediaType.split(';', 1)[0] ?? '') ? readDataUrl(url) : undefined;
  return [filename ?? '', ...(file === undefined ? [] : [new TextDecoder().decode(file.bytes)])];
}

// The files of a new message (docs/specification/agent.md#attachments): every one that is an asset, by whatever name the
// client gives it, becomes `asset:<assetId>`, and so do images in `data:` URLs.

type Message = NonNullable<TaskRequest['message']>;
type Part = Message['parts'][number];
type SentFile = Extract<Part, { type: 'file' }>;

const never = new AbortController().signal;

/**
 * Throws 400 for assets that do not exist and for blocked images, 403 for assets of others, and what `checkStart` throws
 * for the message before an image of it is stored: a request that is refused leaves no asset.
 */
async function resolveAttachments(
  deps: ServingContext,
  userId: string,
  { message, threadId }: TaskRequest,
  checkStart: (message: Message) => Promise<void>,
): Promise<TaskRequest['message']> {
  if (message === null || message === undefined) return message;
  const named = message.parts.map((part) => (part.type === 'file' ? nameAsset(deps, part) : part));
  const assetIds = named.flatMap((part) => (part.type === 'file' && isAsset(part) ? [part.url.slice(6)] : []));
  if (assetIds.length > 0) await checkReadable(deps, userId, assetIds);
  if (!named.some(isDataImage)) return { ...message, parts: named };
  await checkStart({ ...message, parts: named.map((part) => (isDataImage(part) ? { ...part, url: anyAsset } : part)) });
  const parts: Part[] = [];
  for (const [index, part] of named.entries()) {
    parts.push(isDataImage(part) ? await storeImage(deps, userId, threadId, part, index) : part);
  }
  return { ...message, parts };
}

/** As `UIMessage` has it: browsers add parameters to the types of recordings, and other clients send null for no name. */
function nameAsset({ assetOfUrl }: ServingContext, { providerMetadata, filename, ...sent }: SentFile): SentFile {
  const mediaType = sent.mediaType.split(';', 1)[0]?.trim() ?? '';
  const part = { ...sent, mediaType, ...(typeof filename === 'string' && { filename }) };
  const named = providerMetadata?.atelier?.assetId ?? assetOfUrl(part.url);
  if (named !== undefined) return { ...part, url: `asset:${named.toLowerCase()}` };
  return isAsset(part) ? { ...part, url: part.url.toLowerCase() } : part;
}

/** Takes the place of an image that is not stored yet. */
const anyAsset = 'asset:00000000-0000-4000-8000-000000000000';

const isAsset = ({ url }: SentFile) => /^asset:/i.test(url);

const isDataImage = (part: Part): part is SentFile => part.type === 'file' && /^data:image\//i.test(part.url);

async function checkReadable(deps: LibraryDeps, userId: string, assetIds: readonly string[]): Promise<void> {
  const { absent, foreign } = await findUnreadable(deps, userId, assetIds);
  if (absent[0] !== undefined) throw invalid('body.message.parts', `asset:${absent[0]} does not exist`);
  if (foreign[0] !== undefined)
    throw problems.forbidden({
      message: `asset:${foreign[0]} belongs to another user. Attach only your own or public assets.`,
    });
}

/** The same image of the same user in the same thread is one asset, so that a repeated request stores nothing more. */
async function storeImage(
  deps: LibraryDeps,
  ownerId: string,
  threadId: string,
  part: SentFile,
  index: number,
): Promise<SentFile> {
  const { mime, bytes } = readDataUrl(part.url) ?? { mime: '', bytes: Buffer.alloc(0) };
  const digest = createHash('sha256').update(bytes).digest('hex');
  const deposit = { reference: `attached:${ownerId}:${threadId}:${mime}:${digest}`, ownerId, threadId };
  try {
    if (bytes.length === 0) throw new Refused('The image is empty.', 422);
    const { assetId } = await keep(deps, { ...deposit, kind: 'image', mime, bytes }, never);
    return { ...part, url: `asset:${assetId}` };
  } catch (error) {
    if (!(error instanceof Refused)) throw problems.engine_unavailable({ cause: error });
    if (error.status === 451 || error.status === 413) throw invalid(`body.message.parts.${index}`, error.message);
    // No caller can read it. The model gets a note.
    return { ...part, providerMetadata: { [unreadable]: { reason: 'undecodable' } } };
  }
}
