/**
 * Decides whether an upload can be shown (docs/specification/media.md#screening; docs/screening.md). Checks run
 * concurrently. The first match decides at once, and a check that fails does not count as a pass.
 */

import { Worker } from 'node:worker_threads';
import type { Raster } from '#image/engine/engine.ts';
import { withDeadline } from '#platform/resilience.ts';
import type { MediaSettings } from '../config.ts';
import { mediaProblems } from '../problems.ts';
import { type Classifiable, type Classifier, createClassifier } from './classifier.ts';
import { type Hit, hitsOf, type Label, toStored } from './labels.ts';
import type { ExactDigests, Listed, Outcomes, ScreeningReply, ScreeningRequest, Task } from './messages.ts';
import type { PdqHash } from './pdq.ts';

/** Identifies the content of an upload. Stored in its row, so that a copy is matched without its bytes. */
export interface Digests extends ExactDigests {
  /** Hex; `null`: it is not an image. */
  readonly pdq: string | null;
  /** 0–100. */
  readonly pdqQuality: number | null;
}

/** The match, for the incident record. */
export interface Match {
  readonly check: 'digests' | 'pdq' | 'classifier' | 'label';
  /** `sha256`, `md5`, `pdq`, what the classifier named, or the label. */
  readonly list: string;
  /** The entry of the list, hex; `null`: from the classifier. */
  readonly listed: string | null;
  /** Bits between the image's hash and the entry's; `null` from the classifier. */
  readonly distance: number | null;
}

/** The result of all checks that a content went through. */
export interface Judgement {
  /** Prohibited content. `undefined`: none. */
  readonly match?: Match | undefined;
  readonly labels: readonly Label[];
  /** The rules about labels that apply, the strictest first. */
  readonly hits: readonly Hit[];
}

export interface Screening {
  /** Whether a classifier is set. */
  readonly classifies: boolean;
  /** Computes the perceptual hash in the screening thread. Throws `screening_unavailable`. */
  hash(raster: Raster): Promise<PdqHash>;
  /** All checks, the classifier's included. Throws `screening_unavailable` unless one matched or all completed. */
  screen(image: Classifiable, digests: Digests): Promise<Judgement>;
  /** Requests only the labels of the classifier, for content whose match operators have cleared. Throws `screening_unavailable`. */
  label(image: Classifiable): Promise<Judgement>;
  /**
   * Checks the lists, and the labels that the content had, for files that are not images and for an image that passed
   * `screen` before. Needs no bytes. Throws `screening_unavailable`.
   */
  judgeKnown(digests: Digests, labels?: readonly Label[]): Promise<Judgement>;
  /** Reads the lists. Throws `screening_unavailable` with the reason as its cause if they are unusable. */
  checkLists(): Promise<void>;
  close(): Promise<void>;
}

export interface ScreeningSettings
  extends Pick<MediaSettings, 'blockedHashes' | 'screeningUrl'>,
    Partial<Pick<MediaSettings, 'screeningRules'>> {
  /** The limit of a classifier call; 10 s by default. */
  readonly classifierTimeoutMs?: number;
}

/** The minimum quality of a hash that is compared (docs/specification/media.md#screening). */
const leastQuality = 50;

/** Digests that no upload has. */
const nothing: Digests = { sha256: '0'.repeat(64), md5: '0'.repeat(32), pdq: '0'.repeat(64), pdqQuality: 0 };

type Check = (signal: AbortSignal) => Promise<{ readonly match?: Match; readonly labels?: readonly Label[] }>;

export function createScreening(settings: ScreeningSettings): Screening {
  const matcher = createMatcher(settings.blockedHashes);
  const classifier =
    settings.screeningUrl === undefined
      ? undefined
      : createClassifier(settings.screeningUrl, settings.classifierTimeoutMs);
  const judge = async (checks: readonly Check[], known: readonly Label[] = []): Promise<Judgement> => {
    const { match, labels } = await runAll(checks);
    const all = [...known, ...labels];
    return { match, labels: toStored(all), hits: hitsOf(settings.screeningRules ?? [], all) };
  };
  return {
    classifies: classifier !== undefined,
    hash: (raster) => matcher.hash(raster).catch(unavailable),
    screen: (image, digests) =>
      judge([...listChecks(matcher, digests), ...(classifier ? [classifierCheck(classifier, image)] : [])]),
    label: (image) => judge(classifier ? [classifierCheck(classifier, image)] : []),
    judgeKnown: (digests, labels) => judge(listChecks(matcher, digests), labels),
    checkLists: async () => {
      await runAll(listChecks(matcher, nothing));
    },
    close: async () => {
      await Promise.all([matcher.close(), classifier?.close()]);
    },
  };
}

function listChecks(matcher: Matcher, digests: Digests): readonly Check[] {
  const { pdq, pdqQuality } = digests;
  return [
    async () => {
      const found = await matcher.findExact(digests);
      return found ? { match: matchOf('digests', found) } : {};
    },
    async () => {
      if (pdq === null) return {};
      // Searched whatever the quality is: a broken list must be reported.
      const found = await matcher.findNearest(pdq);
      return found === undefined || (pdqQuality ?? 0) < leastQuality ? {} : { match: matchOf('pdq', found) };
    },
  ];
}

function matchOf(check: Match['check'], { list, digest, distance }: Listed): Match {
  return { check, list, listed: digest, distance };
}

function classifierCheck(classifier: Classifier, image: Classifiable): Check {
  return async (signal) => {
    const { list, labels } = await classifier.classify(image, signal);
    if (list === undefined) return { labels };
    return { labels, match: { check: 'classifier', list, listed: null, distance: null } };
  };
}

/** The first match ends the other checks. Without a match, one failed check fails the screening. */
async function runAll(checks: readonly Check[]): Promise<Pick<Judgement, 'match' | 'labels'>> {
  const rest = new AbortController();
  const { promise: firstMatch, resolve } = Promise.withResolvers<Match>();
  const labels: Label[] = [];
  const running = checks.map(async (check) => {
    const found = await check(rest.signal);
    labels.push(...(found.labels ?? []));
    if (found.match) resolve(found.match);
  });
  const allEnded = Promise.allSettled(running);
  const match = await Promise.race([firstMatch, allEnded.then(() => undefined)]);
  rest.abort();
  const failed = match ? undefined : (await allEnded).find((ended) => ended.status === 'rejected');
  return failed === undefined ? { match, labels } : unavailable(failed.reason);
}

function unavailable(cause: unknown): never {
  throw mediaProblems.screening_unavailable({ cause });
}

// Sends requests to the screening thread. Starts it when needed, and replaces it if it died or does not respond.

export interface Matcher {
  hash(raster: Raster): Promise<PdqHash>;
  /** `undefined`: neither list contains it. */
  findExact(digests: ExactDigests): Promise<Listed | undefined>;
  /** Returns the nearest hash within 31 bits. `pdq`: hex. */
  findNearest(pdq: string): Promise<Listed | undefined>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<Outcomes[Task['kind']]>>;
  /** Requests without a reply, those whose caller gave up included. */
  unanswered: number;
  /** When the thread last responded, by the monotonic clock. */
  seenAtMs: number;
}

/** The limit for callers, because a file system can hang. Reading a list of many millions continues without them. */
const answerTimeoutMs = 10_000;
/** A thread without a reply for this long is terminated. */
const silenceMs = 60_000;

/** `folder`: the folder of the lists; without one they are empty. Every method rejects if the thread fails. */
export function createMatcher(folder: string | undefined): Matcher {
  let current: Thread | undefined;
  let lastId = 0;

  function start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: { folder } });
    const thread: Thread = { worker, waiting: new Map(), unanswered: 0, seenAtMs: performance.now() };
    worker.on('message', (reply: ScreeningReply) => {
      thread.unanswered -= 1;
      thread.seenAtMs = performance.now();
      const caller = thread.waiting.get(reply.id);
      thread.waiting.delete(reply.id);
      if ('failure' in reply) caller?.reject(new Error(reply.failure));
      else caller?.resolve(reply.outcome);
    });
    worker.on('error', (error) => abandon(thread, error));
    worker.on('exit', () => abandon(thread, new Error('the screening thread ended')));
    // Last: each listener references the thread, which would keep the process alive.
    worker.unref();
    return thread;
  }

  /** Rejects waiting callers; the next request starts another thread. */
  function abandon(thread: Thread, reason: unknown): void {
    if (current === thread) current = undefined;
    for (const caller of thread.waiting.values()) caller.reject(reason);
    thread.waiting.clear();
    void thread.worker.terminate();
  }

  async function send<Kind extends Task['kind']>(task: Task & { readonly kind: Kind }): Promise<Outcomes[Kind]> {
    current ??= start();
    const thread = current;
    const request: ScreeningRequest = { id: ++lastId, task };
    const answer = Promise.withResolvers<Outcomes[Task['kind']]>();
    if (thread.unanswered === 0) thread.seenAtMs = performance.now();
    // First: if it throws, there is nothing to wait for.
    thread.worker.postMessage(request);
    thread.unanswered += 1;
    thread.waiting.set(request.id, answer);
    try {
      return (await withDeadline(answerTimeoutMs, () => answer.promise)) as Outcomes[Kind];
    } catch (error) {
      const hasTimedOut = thread.waiting.delete(request.id);
      if (hasTimedOut && performance.now() - thread.seenAtMs > silenceMs) abandon(thread, error);
      throw error;
    }
  }

  return {
    hash: (raster) => send({ kind: 'hash', raster }),
    findExact: (digests) => send({ kind: 'exact', digests }),
    findNearest: (pdq) => send({ kind: 'nearest', pdq }),
    close: async () => {
      const thread = current;
      current = undefined;
      if (thread) abandon(thread, new Error('the screening thread was closed'));
      await thread?.worker.terminate();
    },
  };
}
