/** Parses a body of the CMS as JSON, in the forms that a CMS or a proxy may send. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

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

/** Some servers compress without being asked to, with or without the header. Throws if the body is not JSON. */
export async function readCmsBody(body: Buffer, encoding: string): Promise<unknown> {
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  const decode = decoders[isGzip ? 'gzip' : encoding.trim().toLowerCase() || 'identity'];
  if (decode === undefined) throw new Error('the CMS sent an unknown content encoding');
  const text = (await decode(body)).toString('utf8');
  // A byte order mark.
  return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
}
