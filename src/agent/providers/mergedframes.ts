/**
 * Merges the text deltas of a chat stream on OpenAI's wire before the SDK parses them. A provider sends a frame for each
 * token, and the SDK passes each one through a parser, a schema and some ten streams: most of what a run costs. The first
 * frame passes at once; after that, frames collect for a window, and of these the ones that only
 * continue a text become one. All others pass unchanged and in order.
 */

import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parseJson } from '#platform/json.ts';

/** The members of a delta that may be merged. */
const textMembers = ['content', 'reasoning_content', 'reasoning'] as const;

/** Shorter than a reader notices; with many open streams longer, because most of the cost is per delta that is passed on. */
const minWindowMs = 20;
/** Longer windows save little processor time, and the oldest token of each waits that much longer. */
const maxWindowMs = 60;

/** In this process. */
let openStreams = 0;
const windowMs = () => Math.min(maxWindowMs, Math.max(minWindowMs, openStreams));

/** In characters. What is longer passes in pieces. */
const maxFrameLength = 1024 * 1024;

interface TextFrame {
  /** The whole frame, as parsed. */
  readonly frame: object;
  readonly id: unknown;
  readonly delta: Record<string, unknown>;
  readonly member: (typeof textMembers)[number];
}

/** As `MODELS_FILE` names the provider whose streams are merged here. */
export const mergingProvider = 'openai-compatible';

/** Returns `send` with merged streams. Other responses pass unchanged. */
export function withMergedDeltas(send: typeof fetch): typeof fetch {
  return async (url, init) => {
    const response = await send(url, init);
    const { body, status, statusText, headers } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!response.ok || body === null || !isStream) return response;
    return new Response(mergeDeltas(body), { status, statusText, headers });
  };
}

/** `window`: in milliseconds. */
export function mergeDeltas(body: ReadableStream<Uint8Array>, window = windowMs): ReadableStream<Uint8Array> {
  const merging = new Merging(body.getReader(), window);
  return new ReadableStream<Uint8Array>(
    { pull: (controller) => merging.pull(controller), cancel: (reason) => merging.cancel(reason) },
    { highWaterMark: 0 },
  );
}

class Merging {
  readonly #source: ReadableStreamDefaultReader<Uint8Array>;
  readonly #window: () => number;
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  /** What has arrived of a frame that is not complete. */
  #rest = '';
  /** Complete frames, with their ends. */
  #ready = '';
  /** The frame after `#ready`, which the next one may continue. */
  #open: TextFrame | undefined;
  #reading: Promise<void> | undefined;
  #isEnded = false;
  #isCounted = true;
  #lastSentAtMs = Number.NEGATIVE_INFINITY;

  constructor(source: ReadableStreamDefaultReader<Uint8Array>, window: () => number) {
    this.#source = source;
    this.#window = window;
    openStreams += 1;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    // The socket collects what arrives in the window, and one read takes it all.
    const waitMs = this.#lastSentAtMs + this.#window() - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    while (!this.#isEnded && this.#ready === '' && this.#open === undefined) await this.#read();
    if (waitMs > 0) await this.#readWhatIsThere();
    this.#closeOpen();
    const text = this.#ready;
    this.#ready = '';
    this.#lastSentAtMs = performance.now();
    if (text !== '') controller.enqueue(this.#encoder.encode(text));
    if (this.#isEnded) controller.close();
  }

  cancel(reason: unknown): Promise<void> {
    this.#countClosed();
    return this.#source.cancel(reason);
  }

  /**
   * The body holds one piece; the socket may hold more, which arrives before the check phase of this turn of the event
   * loop. A second turn would let every run wait for the work of all others.
   */
  async #readWhatIsThere(): Promise<void> {
    if (this.#isEnded) return;
    const more = this.#read();
    await yieldToEventLoop();
    if (this.#reading === undefined) await more;
  }

  /** One read at a time; one that outlasts the window is awaited by the next `pull`. */
  #read(): Promise<void> {
    this.#reading ??= this.#source.read().then(({ done, value }) => {
      this.#reading = undefined;
      if (done) this.#end();
      else this.#add(this.#decoder.decode(value, { stream: true }));
    });
    // An error rejects the next `pull`. Without another one, it must not end the process.
    this.#reading.catch(() => this.#countClosed());
    return this.#reading;
  }

  #add(text: string): void {
    const all = this.#rest + text;
    // The second half of a line end may be in the next piece.
    const complete = all.endsWith('\r') ? all.slice(0, -1) : all;
    const frames = (complete.includes('\r') ? complete.replace(/\r\n?/g, '\n') : complete).split('\n\n');
    this.#rest = (frames.pop() ?? '') + all.slice(complete.length);
    for (const frame of frames) this.#addFrame(frame);
    if (this.#rest.length > maxFrameLength) this.#passOnRest();
  }

  #addFrame(frame: string): void {
    const next = readTextFrame(frame);
    const open = this.#open;
    if (next === undefined) {
      this.#closeOpen();
      this.#ready += `${frame}\n\n`;
    } else if (open !== undefined && open.id === next.id && open.member === next.member) {
      next.delta[next.member] = `${open.delta[open.member]}${next.delta[next.member]}`;
      this.#open = next;
    } else {
      this.#closeOpen();
      this.#open = next;
    }
  }

  #closeOpen(): void {
    if (this.#open !== undefined) this.#ready += `data: ${JSON.stringify(this.#open.frame)}\n\n`;
    this.#open = undefined;
  }

  #passOnRest(): void {
    this.#closeOpen();
    this.#ready += this.#rest;
    this.#rest = '';
  }

  #countClosed(): void {
    if (this.#isCounted) openStreams -= 1;
    this.#isCounted = false;
  }

  #end(): void {
    this.#isEnded = true;
    this.#countClosed();
    this.#rest += this.#decoder.decode();
    this.#passOnRest();
  }
}

/** `undefined` for a frame that does more than continue a text, such as one with a tool call, usage or an end. */
function readTextFrame(frame: string): TextFrame | undefined {
  if (!frame.startsWith('data:') || frame.includes('\n')) return undefined;
  const parsed = parseJson(frame.slice('data:'.length));
  if (!isObject(parsed) || parsed.error !== undefined || isPresent(parsed.usage)) return undefined;
  const { choices } = parsed;
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isObject(choice) || isPresent(choice.finish_reason) || !isObject(choice.delta)) return undefined;
  const { role, ...members } = choice.delta;
  const [member, ...others] = Object.keys(members).filter((name) => isPresent(members[name]));
  const known = textMembers.find((name) => name === member);
  if (known === undefined || others.length > 0 || typeof members[known] !== 'string') return undefined;
  return { frame: parsed, id: parsed.id, delta: choice.delta, member: known };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
