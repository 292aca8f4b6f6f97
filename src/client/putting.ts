/** Sends bytes to the store or the edge and reports progress: with XMLHttpRequest in browsers, with `fetch` elsewhere. */
import { AtelierError, errorOf, toAtelierError } from './errors.ts';
import type { UploadReservation } from './media/api.ts';
import { type Patience, watchForSilence } from './pausing.ts';

export interface UploadProgress {
  /** Goes back if bytes must be sent again: to 0 for a PUT, to what the server has for a resumable upload. */
  readonly sentBytes: number;
  readonly totalBytes: number;
}

export interface Sending {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly patience?: Partial<Patience> | undefined;
}

interface Target {
  readonly method: 'PUT' | 'PATCH';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
type Send = (target: Target, bytes: Blob, signal: AbortSignal, onSent: (sentBytes: number) => void) => Promise<void>;

/** As `sendBytes`, for the URL of one PUT. */
export function putBytes(
  { uploadUrl: url, headers }: Pick<UploadReservation, 'uploadUrl' | 'headers'>,
  bytes: Blob,
  options: Sending,
): Promise<void> {
  return sendBytes({ method: 'PUT', url, headers }, bytes, 0, options);
}

/**
 * Makes one attempt to send the bytes from `offset` on. Throws `AtelierError`, with the server's status if it rejected the upload. A
 * stalled connection is aborted.
 */
export async function sendBytes(target: Target, bytes: Blob, offset: number, options: Sending): Promise<void> {
  const { signal, onProgress, patience } = options;
  const silence = watchForSilence(patience, signal, 'the upload stalled');
  const onSent = (sentBytes: number) => {
    silence.interrupt();
    onProgress?.({ sentBytes: offset + sentBytes, totalBytes: bytes.size });
  };
  try {
    onSent(0);
    const send = options.fetch === undefined && 'XMLHttpRequest' in globalThis ? sendByXhr : sendBy(options.fetch);
    await send(target, offset === 0 ? bytes : bytes.slice(offset), silence.signal, onSent);
    onProgress?.({ sentBytes: bytes.size, totalBytes: bytes.size });
  } finally {
    silence.end();
  }
}

const pieceBytes = 65_536;

const sendBy =
  (fetch = globalThis.fetch): Send =>
  async ({ method, url, headers }, bytes, signal, onSent) => {
    const init = {
      method,
      // The store needs the length in advance, because it is signed.
      headers: { ...headers, 'content-length': String(bytes.size) },
      body: inPieces(bytes, onSent),
      duplex: 'half',
      signal,
    };
    const response = await fetch(url, init as RequestInit).catch((error: unknown) => {
      throw toAtelierError(error);
    });
    if (!response.ok) throw await errorOf(response);
    await response.body?.cancel();
  };

/** Sends a piece when the reader requests the next. */
function inPieces(bytes: Blob, onSent: (sentBytes: number) => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  let start = 0;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
    if (start > 0) onSent(start);
    if (start === bytes.size) return controller.close();
    const piece = await bytes.slice(start, start + pieceBytes).arrayBuffer();
    start += piece.byteLength;
    controller.enqueue(new Uint8Array(piece));
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** The part of the interface that is used, because browser types are not available everywhere. */
interface Xhr {
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  getResponseHeader(name: string): string | null;
  abort(): void;
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
}

/** In browsers, `fetch` cannot report upload progress. */
const sendByXhr: Send = ({ method, url, headers }, bytes, signal, onSent) =>
  new Promise((resolve, reject) => {
    const { XMLHttpRequest } = globalThis as unknown as { readonly XMLHttpRequest: new () => Xhr };
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    const end = (error?: unknown) => {
      signal.removeEventListener('abort', stop);
      if (error === undefined) resolve();
      else reject(error);
    };
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) end();
      else void errorOf(new Response(responseText, { status, headers: retryAfterOf(request) })).then(end);
    };
    request.onerror = () => end(new AtelierError('unreachable', 'The upload was interrupted.'));
    request.onabort = () => end(toAtelierError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) end(toAtelierError(signal.reason));
    else request.send(bytes);
  });

const retryAfterOf = (request: Xhr): Record<string, string> => {
  const seconds = request.getResponseHeader('retry-after');
  return seconds === null ? {} : { 'retry-after': seconds };
};
