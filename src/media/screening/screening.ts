/**
 * Decides whether an upload can be shown (docs/specification/media.md#screening; docs/screening.md). Checks run
 * concurrently. The first match decides at once, and a check that fails does not count as a pass.
 */
import { mediaProblems } from '../problems.ts';
import { type Classifiable, type Classifier, createClassifier } from './classifier.ts';
import { createMatcher, type Matcher } from './matcher.ts';
import type { ExactDigests } from './messages.ts';
import type { PdqHash, Raster } from './pdq.ts';

/** Identifies the content of an upload. Stored in its row, so that a copy is matched without its bytes. */
export interface Digests extends ExactDigests {
  /** Hex; `null`: it is not an image. */
  readonly pdq: string | null;
  /** 0–100. */
  readonly pdqQuality: number | null;
}

/** The match, for the incident record. */
export interface Match {
  readonly check: 'digests' | 'pdq' | 'classifier';
  /** `sha256`, `md5`, `pdq`, or what the classifier named. */
  readonly list: string;
  /** The entry of the list, hex; `null`: from the classifier. */
  readonly listed: string | null;
  /** Bits between the image's hash and the entry's; `null` from the classifier. */
  readonly distance: number | null;
}

export interface Screening {
  /** Computes the perceptual hash in the screening thread. Throws `screening_unavailable`. */
  hash(raster: Raster): Promise<PdqHash>;
  /** All checks, the classifier's included. `undefined`: clean. Throws `screening_unavailable` unless all completed. */
  screen(image: Classifiable, digests: Digests): Promise<Match | undefined>;
  /**
   * Checks the lists only, for files that are not images and for a copy of an image that passed `screen` before. Needs
   * no bytes. `undefined`: clean. Throws `screening_unavailable`.
   */
  matchDigests(digests: Digests): Promise<Match | undefined>;
  /** Reads the lists. Throws `screening_unavailable` with the reason as its cause if they are unusable. */
  checkLists(): Promise<void>;
  close(): Promise<void>;
}

export interface ScreeningSettings {
  /** MEDIA_BLOCKED_HASHES. */
  readonly blockedHashes: string | undefined;
  /** MEDIA_SCREENING_URL. */
  readonly screeningUrl: string | undefined;
  /** The limit of a classifier call; 10 s by default. */
  readonly classifierTimeoutMs?: number;
}

/** The minimum quality of a hash that is compared (docs/specification/media.md#screening). */
const leastQuality = 50;

/** Digests that no upload has. */
const nothing: Digests = {
  sha256: '0'.repeat(64),
  md5: '0'.repeat(32),
  pdq: '0'.repeat(64),
  pdqQuality: 0,
};

type Check = (signal: AbortSignal) => Promise<Match | undefined>;

export function createScreening(settings: ScreeningSettings): Screening {
  const matcher = createMatcher(settings.blockedHashes);
  const classifier =
    settings.screeningUrl === undefined
      ? undefined
      : createClassifier(settings.screeningUrl, settings.classifierTimeoutMs);
  return {
    hash: (raster) => matcher.hash(raster).catch(unavailable),
    screen: (image, digests) =>
      runAll([...listChecks(matcher, digests), ...(classifier ? [classifierCheck(classifier, image)] : [])]),
    matchDigests: (digests) => runAll(listChecks(matcher, digests)),
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
      return found && { check: 'digests', list: found.list, listed: found.digest, distance: found.distance };
    },
    async () => {
      if (pdq === null) return undefined;
      // Searched whatever the quality is: a broken list must be reported.
      const found = await matcher.findNearest(pdq);
      if (found === undefined || (pdqQuality ?? 0) < leastQuality) return undefined;
      return { check: 'pdq', list: found.list, listed: found.digest, distance: found.distance };
    },
  ];
}

function classifierCheck(classifier: Classifier, image: Classifiable): Check {
  return async (signal) => {
    const list = await classifier.classify(image, signal);
    return list === undefined ? undefined : { check: 'classifier', list, listed: null, distance: null };
  };
}

/** The first match ends the other checks. Without a match, one failed check fails the screening. */
async function runAll(checks: readonly Check[]): Promise<Match | undefined> {
  const rest = new AbortController();
  const { promise: firstMatch, resolve } = Promise.withResolvers<Match>();
  const running = checks.map(async (check) => {
    const match = await check(rest.signal);
    if (match) resolve(match);
  });
  const allEnded = Promise.allSettled(running);
  const match = await Promise.race([firstMatch, allEnded.then(() => undefined)]);
  rest.abort();
  if (match) return match;
  const failed = (await allEnded).find((ended) => ended.status === 'rejected');
  return failed === undefined ? undefined : unavailable(failed.reason);
}

function unavailable(cause: unknown): never {
  throw mediaProblems.screening_unavailable({ cause });
}
