/**
 * Decides whether an upload can be shown (docs/specification/media.md#screening; docs/screening.md). Checks run
 * concurrently. The first match decides at once, and a check that fails does not count as a pass.
 */
import { mediaProblems } from '../problems.ts';
import { type Classifiable, type Classifier, createClassifier } from './classifier.ts';
import { type Hit, hitsOf, type Label, type Rule, toStored } from './labels.ts';
import { createMatcher, type Matcher } from './matcher.ts';
import type { ExactDigests, Listed } from './messages.ts';
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

export interface ScreeningSettings {
  /** MEDIA_BLOCKED_HASHES. */
  readonly blockedHashes: string | undefined;
  /** MEDIA_SCREENING_URL. */
  readonly screeningUrl: string | undefined;
  /** MEDIA_SCREENING_RULES. */
  readonly screeningRules?: readonly Rule[];
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
