/**
 * Prepares a run whose process is gone for its continuation (docs/specification/agent.md#runs-that-continue). What its last step shows
 * is void, unless tool calls of it were carried out: those stay, with their results, and are not repeated.
 */
import type { UIMessage } from 'ai';
import { isSettled, releaseCredits } from '#accounts/ledger/credits.ts';
import { transaction } from '#platform/db/db.ts';
import { imageOutputOf, imageReferences } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import type { Batch } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runstore.ts';
import { assetIdOf } from '../services/library.ts';
import { type Chunk, chunksOf } from '../stream/chunks.ts';
import { MessageAssembler, restarted } from '../stream/eventwriter.ts';
import { findMessage } from '../threads/messagestore.ts';
import { describeVideo } from '../videos/videos.ts';
import { findVideoOfCall } from '../videos/videostore.ts';
import { type CallResult, type FinishedStep, listCalls, listSteps, type RecordedCall } from './stepstore.ts';

type Part = UIMessage['parts'][number];
type DataPart = Extract<Part, { type: `data-${string}` }>;

/** Everything of a run that its log and its rows have. */
export interface RunRecord {
  readonly batches: readonly Batch[];
  readonly lastSeq: number;
  /** The log has its last event. */
  readonly isEnded: boolean;
  readonly message: MessageAssembler;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The message that the run continues; empty for a new one. */
  readonly prior: UIMessage['parts'];
  readonly steps: readonly FinishedStep[];
}

export async function readRecord(deps: AgentContext, run: Run): Promise<RunRecord> {
  const batches: Batch[] = [];
  for (;;) {
    const found = await deps.eventLog.read(run, batches.at(-1)?.lastSeq ?? 0);
    if (found.length === 0) break;
    batches.push(...found);
  }
  const prior = run.replayed === null ? [] : ((await findMessage(deps.db, run.threadId, run.messageId))?.parts ?? []);
  const message = new MessageAssembler(prior);
  let metadata = {};
  let seq = 0;
  for (const event of batches.flatMap(({ events }) => events)) {
    seq += 1;
    const chunk = JSON.parse(event) as Chunk;
    if (seq > (run.replayed ?? 0)) message.add(chunk);
    if ('messageMetadata' in chunk) metadata = { ...metadata, ...(chunk.messageMetadata as object) };
  }
  const steps = await listSteps(deps.db, run.taskId);
  const last = batches.at(-1);
  return { batches, lastSeq: last?.lastSeq ?? 0, isEnded: last?.isLast ?? false, message, metadata, prior, steps };
}

/** The log lacks what the rows have: readers could not continue. */
export const isLogLost = ({ lastSeq, steps }: RunRecord): boolean => lastSeq === 0 && steps.length > 0;

/** How the stream of a run goes on. */
export interface Continuation {
  readonly record: RunRecord;
  /** The finished parts of the message, also those of the step that `kept` completes. */
  readonly earlier: UIMessage['parts'];
  /** To be written first. */
  readonly chunks: readonly Chunk[];
  /** What stays of the last step, which ends with it. Its parts are written, and it is recorded, before its end is shown. */
  readonly kept: { readonly step: number; readonly chunks: readonly Chunk[] } | undefined;
  /** The ids of all calls, also of those that are void: they name reservations that are closed. */
  readonly takenIds: ReadonlySet<string>;
  /** Calls of the message that were approved, and what became of them. */
  readonly answered: ReadonlyMap<string, CallResult>;
}

export async function planContinuation(deps: AgentContext, run: Run, record: RunRecord): Promise<Continuation> {
  const { message, steps, prior, lastSeq } = record;
  const calls = new Map((await listCalls(deps.db, run.taskId)).map((call) => [call.toolCallId, call]));
  const first = stepsIn(prior);
  // The first row of a run that goes on after an approval has the whole message before it.
  const earlier = run.replayed === null || steps.length === 0 ? [...prior, ...partsOf(steps)] : partsOf(steps);
  const takenIds = new Set([...calls.keys(), ...message.callIds]);
  const base = { record, earlier, takenIds, answered: await answersOf(deps, run, prior, calls) };
  const isWaiting = run.replayed !== null && steps.length === 0;
  if (lastSeq === 0 || isWaiting) return { ...base, chunks: [], kept: undefined };
  const recorded = stepsIn(earlier);
  const begun = first + message.finishedSteps + (message.isStepOpen ? 1 : 0);
  const step = recorded + 1;
  const isVoid = begun > recorded;
  // A recorded step whose end was not shown ends. The mark belongs to the step that is asked for again.
  const next: Chunk[] = [...(message.isStepOpen ? [{ type: 'finish-step' } as const] : []), { type: 'start-step' }];
  const shown = isVoid ? message.stepParts() : [];
  const kept = await keptOf(deps, run, shown, calls);
  const restart: Chunk[] = [
    ...(isVoid ? message.closing() : next),
    { type: restarted, data: { step } },
    { type: 'finish-step' },
  ];
  if (kept.length === 0) return { ...base, chunks: restart, kept: undefined };
  const chunks = kept.flatMap((part, index): Chunk[] =>
    part.type === 'step-start' ? [{ type: 'start-step' }] : chunksOf(part, `kept-${step}-${index}`),
  );
  return { ...base, earlier: [...earlier, ...kept], chunks: restart, kept: { step, chunks } };
}

export const stepsIn = (parts: UIMessage['parts']): number => parts.filter(({ type }) => type === 'step-start').length;

const partsOf = (steps: readonly FinishedStep[]) => steps.flatMap(({ parts }) => parts);

type Calls = ReadonlyMap<string, RecordedCall>;

/** The parts of the step, if it has carried out a call or made a file. Calls that the model has to make again are left out. */
async function keptOf(deps: AgentContext, run: Run, shown: UIMessage['parts'], calls: Calls): Promise<Part[]> {
  const kept: Part[] = [];
  let isDone = false;
  for (const part of shown) {
    if (!('toolCallId' in part)) {
      isDone ||= part.type === 'file';
      if (part.type !== 'data-approval') kept.push(part);
      continue;
    }
    const call = calls.get(part.toolCallId);
    const result = call && (await resultOf(deps, run, call));
    if (result === undefined) continue;
    isDone = true;
    kept.push(withResult(part, result), ...videoPart(result, shown));
  }
  return isDone ? kept : [];
}

/** A video is shown by a part of its own, unless it is among `shown`. */
export function videoPart(result: CallResult, shown: UIMessage['parts']): DataPart[] {
  const output = 'output' in result ? result.output : undefined;
  const { kind, videoId: id } = Object(output) as { readonly kind?: unknown; readonly videoId?: unknown };
  if (kind !== 'video' || typeof id !== 'string') return [];
  const isShown = shown.some((part) => part.type === 'data-video' && part.id === id);
  return isShown ? [] : [{ type: 'data-video', id, data: output }];
}

function withResult(part: Part, result: CallResult): Part {
  const { errorText: _errorText, output: _output, ...call } = part as Part & { errorText?: unknown; output?: unknown };
  const ended =
    'output' in result
      ? { state: 'output-available', output: result.output }
      : { state: 'output-error', errorText: result.error };
  return { ...call, ...ended } as Part;
}

const interrupted: CallResult = {
  output: {
    status: 'failed',
    failure: {
      code: 'interrupted',
      message: 'The server stopped during this call. It is unknown whether it was carried out.',
      retryable: false,
    },
  },
};

/** What became of a call that was carried out, at least in part. `undefined`: nothing, so that the model can make it again. */
async function resultOf(deps: AgentContext, run: Run, call: RecordedCall): Promise<CallResult | undefined> {
  const { toolCallId, name, isFinished, output, error } = call;
  if (isFinished) return error === null ? { output: output?.value ?? null } : { error };
  if (name === 'generateImage' || name === 'editImage') return giveUpImages(deps, run, toolCallId);
  if (name !== 'generateVideo') return interrupted;
  // Its job goes on.
  const video = await findVideoOfCall(deps.db, run.taskId, toolCallId);
  return video && { output: describeVideo(video) };
}

/** Returns the credits of the images that were not delivered. The provider's work on them is lost. */
async function giveUpImages(
  { db }: AgentContext,
  { taskId }: Run,
  toolCallId: string,
): Promise<CallResult | undefined> {
  const assetIds = await transaction(db, async (tx) => {
    const delivered: string[] = [];
    for (const reference of imageReferences(taskId, toolCallId))
      if (!(await releaseCredits(tx, reference)) && (await isSettled(tx, reference)))
        delivered.push(assetIdOf(reference));
    return delivered;
  });
  const output = imageOutputOf(assetIds);
  return output && { output };
}

/** Of the calls that a person has approved before the run began. */
async function answersOf(deps: AgentContext, run: Run, prior: UIMessage['parts'], calls: Calls) {
  const answered = new Map<string, CallResult>();
  for (const part of prior) {
    const call = 'toolCallId' in part ? calls.get(part.toolCallId) : undefined;
    if (call !== undefined) answered.set(call.toolCallId, (await resultOf(deps, run, call)) ?? interrupted);
  }
  return answered;
}
