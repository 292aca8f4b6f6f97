/**
 * The content proxy (docs/specification/content.md#fail-open): reads a body of the CMS once for all who ask at the same time, and shows
 * it to each in their language. It fails open: whatever is wrong with the CMS, the answer is the empty one.
 */
import type { Clock } from '#platform/clock.ts';
import type { HttpClient } from '#platform/http/client.ts';
import type { ContentLanguage } from '#platform/language.ts';
import { readCmsBody } from './cmsbody.ts';
import { etagOf } from './validators.ts';

/** One body of the CMS, and what the public is shown of it. */
export interface Feature<Body, Shown> {
  readonly path: string;
  /** Throws when the body does not fit. */
  readonly parse: (upstream: unknown) => Body;
  readonly localise: (body: Body, language: ContentLanguage) => Shown;
  readonly empty: Shown;
}

export interface ProxyDeps {
  readonly cms: HttpClient;
  /** Monotonic. */
  readonly clock: Clock;
  /** Called for every reading that failed, with the path. */
  readonly onFailure: (path: string, error: unknown) => void;
}

interface ShownContent {
  /** JSON, encoded: once a body and language, not once a request. */
  readonly bytes: Buffer;
  readonly etag: string;
  /** `false`: it is the empty answer of a CMS that failed. */
  readonly isFresh: boolean;
}

/** A body is at most 2 s old when it is shown (docs/specification/content.md#fail-open); half of it leaves room for slow requests. */
const reusableMs = 1000;

export function createProxy<Body, Shown>(deps: ProxyDeps, feature: Feature<Body, Shown>) {
  const { cms, clock } = deps;
  const { path } = feature;
  let kept: Reading | undefined;
  let reading: Promise<Reading | undefined> | undefined;
  const empty = encode(feature.empty);

  async function read(): Promise<Reading | undefined> {
    try {
      const answer = await cms.send({ method: 'GET', route: path });
      if (answer.status !== 200) throw new Error(`the CMS answered ${answer.status}`);
      const body = feature.parse(await readCmsBody(answer.body, String(answer.headers['content-encoding'] ?? '')));
      kept = {
        inLanguage: onceEach((language) => encode(feature.localise(body, language))),
        until: clock.now() + reusableMs,
      };
      return kept;
    } catch (error) {
      deps.onFailure(path, error);
      return undefined;
    } finally {
      reading = undefined;
    }
  }

  const show = (latest: Reading | undefined, language: ContentLanguage): ShownContent =>
    latest === undefined ? { ...empty, isFresh: false } : { ...latest.inLanguage(language), isFresh: true };

  /** At once where a body is at hand, as for nearly all who ask. */
  return (language: ContentLanguage): ShownContent | Promise<ShownContent> => {
    if (kept === undefined || clock.now() >= kept.until) reading ??= read();
    return reading === undefined ? show(kept, language) : reading.then((latest) => show(latest, language));
  };
}

/** A body of the CMS, shown in each language as it is asked for. */
interface Reading {
  readonly inLanguage: (language: ContentLanguage) => Encoded;
  readonly until: number;
}

interface Encoded {
  readonly bytes: Buffer;
  readonly etag: string;
}

function encode(shown: unknown): Encoded {
  const bytes = Buffer.from(JSON.stringify(shown));
  return { bytes, etag: etagOf(bytes) };
}

function onceEach(render: (language: ContentLanguage) => Encoded): (language: ContentLanguage) => Encoded {
  const rendered = new Map<ContentLanguage, Encoded>();
  return (language) => {
    const encoded = rendered.get(language) ?? render(language);
    rendered.set(language, encoded);
    return encoded;
  };
}
