/**
 * The content proxy (docs/specification/content.md#fail-open). Concurrent requests share one read of a CMS body, which
 * is rendered in each reader's language. The proxy fails open: if the CMS fails, the response is empty.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { etagOf } from '#platform/http/validators.ts';
import type { ContentLanguage } from '#platform/language.ts';
import type { ContentContext } from './context.ts';

/** A body of the CMS, and its public form. */
export interface Feature<Body, Shown> {
  readonly path: string;
  /** Throws if the body is invalid. */
  readonly parse: (upstream: unknown) => Body;
  readonly localize: (body: Body, language: ContentLanguage) => Shown;
  readonly empty: Shown;
}

interface ShownContent {
  /** JSON, once per body and language instead of once per request. Node sends a string with its headers in one piece. */
  readonly json: string;
  readonly etag: string;
  /** `false`: the empty response of a CMS that failed. */
  readonly isFresh: boolean;
}

/** A body is at most 2 s old when it is served (docs/specification/content.md#fail-open). Half of that leaves room for slow requests. */
const reusableMs = 1000;

export function createProxy<Body, Shown>(
  deps: Pick<ContentContext, 'cms' | 'clock' | 'onFailure'>,
  feature: Feature<Body, Shown>,
) {
  const { cms, clock } = deps;
  const { path } = feature;
  let kept: Reading | undefined;
  let reading: Promise<Reading | undefined> | undefined;
  const empty = encode(feature.empty, false);

  async function read(): Promise<Reading | undefined> {
    try {
      const answer = await cms.send({ method: 'GET', route: path });
      if (answer.status !== 200) throw new Error(`the CMS returned ${answer.status}`);
      const body = feature.parse(await readCmsBody(answer.body, String(answer.headers['content-encoding'] ?? '')));
      kept = {
        inLanguage: onceEach((language) => encode(feature.localize(body, language), true)),
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

  const show = (latest: Reading | undefined, language: ContentLanguage) => latest?.inLanguage(language) ?? empty;

  /** Served at once if the body is cached, as for nearly all requests. */
  return (language: ContentLanguage): ShownContent | Promise<ShownContent> => {
    if (kept === undefined || clock.now() >= kept.until) reading ??= read();
    return reading === undefined ? show(kept, language) : reading.then((latest) => show(latest, language));
  };
}

/** A body of the CMS, rendered in each language when it is first requested. */
interface Reading {
  readonly inLanguage: (language: ContentLanguage) => ShownContent;
  readonly until: number;
}

function encode(shown: unknown, isFresh: boolean): ShownContent {
  const json = JSON.stringify(shown);
  return { json, etag: etagOf(json), isFresh };
}

function onceEach(render: (language: ContentLanguage) => ShownContent): (language: ContentLanguage) => ShownContent {
  const rendered = new Map<ContentLanguage, ShownContent>();
  return (language) => {
    const encoded = rendered.get(language) ?? render(language);
    rendered.set(language, encoded);
    return encoded;
  };
}

/** Limit of a decompressed body, in bytes. */
const maxBytes = 4 * 1024 * 1024;

type Decode = (bytes: Buffer) => Promise<Buffer>;
const bounded = { maxOutputLength: maxBytes };
const gunzipAll: Decode = (bytes) => promisify(gunzip)(bytes, bounded);
const decoders: Readonly<Record<string, Decode>> = {
  gzip: gunzipAll,
  'x-gzip': gunzipAll,
  deflate: (bytes) => promisify(inflate)(bytes, bounded),
  br: (bytes) => promisify(brotliDecompress)(bytes, bounded),
  identity: async (bytes) => bytes,
};

/**
 * Parses a body of the CMS as JSON. Some servers compress without being asked to, with or without the header. Throws if
 * the body is not JSON.
 */
async function readCmsBody(body: Buffer, encoding: string): Promise<unknown> {
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  const decode = decoders[isGzip ? 'gzip' : encoding.trim().toLowerCase() || 'identity'];
  if (decode === undefined) throw new Error('the CMS sent an unknown content encoding');
  const text = (await decode(body)).toString('utf8');
  // A byte order mark.
  return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
}
