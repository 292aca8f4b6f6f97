/**
 * Writes the deltas of texts and reasoning to the run's stream directly. In the SDK, each delta passes through more than
 * ten stream transforms. The SDK still names and orders the parts, and gets the text of a part once, as one delta at its
 * end.
 *
 * A delta is written directly only if the SDK has passed on everything before it: the last part that the SDK got is the
 * start of the delta's part, and that start has been written. All other deltas pass through the SDK.
 */
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { type UIMessageChunk, wrapLanguageModel } from 'ai';
import type { EventWriter } from '../stream/eventwriter.ts';
import { ToolCallIds } from './toolcallids.ts';

type Part = LanguageModelV4StreamPart;
type DeltaType = 'text-delta' | 'reasoning-delta';

/** The part whose start was the last that the SDK got. */
interface OpenPart {
  readonly type: DeltaType;
  /** The provider's id of the part. */
  readonly id: string;
  /** Resolves with the SDK's id once the start is written, and with `undefined` if the turn is over before. */
  readonly started: PromiseWithResolvers<string | undefined>;
  sdkId: string | undefined;
  /** Written, but not passed to the SDK yet. */
  text: string;
}

export class DirectDeltas {
  readonly #writer: Pick<EventWriter, 'write'>;
  readonly #signal: AbortSignal;
  readonly #toolCallIds = new ToolCallIds();
  /** Parts whose starts are in the SDK, in order. */
  readonly #starting: OpenPart[] = [];
  /** How many characters of a part the SDK has yet to pass on that are written already, by type and id. */
  readonly #ahead = new Map<string, number>();
  #open: OpenPart | undefined;

  /** For one turn. Nothing is written directly once `signal` is aborted. */
  constructor(writer: Pick<EventWriter, 'write'>, signal: AbortSignal) {
    this.#writer = writer;
    this.#signal = signal;
    const release = () => {
      for (const { started } of this.#starting) started.resolve(undefined);
    };
    signal.addEventListener('abort', release, { once: true });
  }

  /** The same model, with distinct ids of tool calls. If a delta cannot be written, its stream fails with that error. */
  tap(model: LanguageModelV4): LanguageModelV4 {
    return wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: 'v4',
        wrapStream: async ({ doStream }) => {
          const result = await doStream();
          return { ...result, stream: this.#tapStream(result.stream) };
        },
      },
    });
  }

  /** Writes a chunk from the SDK, without the text that is written already. */
  async write(chunk: UIMessageChunk): Promise<void> {
    const unwritten = this.#withoutWritten(chunk);
    if (unwritten !== undefined) await this.#writer.write(unwritten);
    if (isStart(chunk)) this.#starting.shift()?.started.resolve(chunk.id);
  }

  #tapStream(source: ReadableStream<Part>): ReadableStream<Part> {
    const reader = source.getReader();
    const rename = this.#toolCallIds.forStep();
    return new ReadableStream<Part>(
      {
        pull: async (controller) => {
          const { done, value } = await this.#readOther(reader);
          this.#passText(controller);
          if (done) return controller.close();
          controller.enqueue(rename(value));
          if (isStart(value)) this.#openPart(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** Writes deltas, up to the next part that has to pass through the SDK. */
  async #readOther(reader: ReadableStreamDefaultReader<Part>): Promise<Awaited<ReturnType<typeof reader.read>>> {
    try {
      for (;;) {
        const result = await reader.read();
        if (result.done || !(await this.#writeDirectly(result.value))) return result;
      }
    } catch (error) {
      // If the provider's stream has failed, this fails too.
      void reader.cancel().catch(() => undefined);
      throw error;
    }
  }

  /** `false`: the part has to pass through the SDK. */
  async #writeDirectly(part: Part): Promise<boolean> {
    const open = this.#open;
    if (open === undefined || (part.type !== 'text-delta' && part.type !== 'reasoning-delta')) return false;
    if (part.type !== open.type || part.id !== open.id || part.providerMetadata !== undefined) return false;
    open.sdkId ??= await open.started.promise;
    if (open.sdkId === undefined || this.#signal.aborted) return false;
    const { type, delta } = part;
    open.text += delta;
    // The SDK drops empty deltas of texts, but not of reasoning.
    if (delta !== '' || type === 'reasoning-delta') await this.#writer.write({ type, id: open.sdkId, delta });
    return true;
  }

  /** Ends the direct way of the open part. */
  #passText(controller: ReadableStreamDefaultController<Part>): void {
    const open = this.#open;
    this.#open = undefined;
    if (open?.sdkId === undefined || open.text === '') return;
    this.#ahead.set(`${open.type} ${open.sdkId}`, open.text.length);
    controller.enqueue({ type: open.type, id: open.id, delta: open.text });
  }

  #openPart({ type, id }: Extract<Part, { type: 'text-start' | 'reasoning-start' }>): void {
    const deltaType = type === 'text-start' ? 'text-delta' : 'reasoning-delta';
    this.#open = { type: deltaType, id, started: Promise.withResolvers(), sdkId: undefined, text: '' };
    this.#starting.push(this.#open);
    if (this.#signal.aborted) this.#open.started.resolve(undefined);
  }

  #withoutWritten(chunk: UIMessageChunk): UIMessageChunk | undefined {
    if (chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta') return chunk;
    const key = `${chunk.type} ${chunk.id}`;
    const ahead = this.#ahead.get(key) ?? 0;
    if (ahead === 0) return chunk;
    this.#ahead.set(key, Math.max(0, ahead - chunk.delta.length));
    const delta = chunk.delta.slice(ahead);
    return delta === '' ? undefined : { ...chunk, delta };
  }
}

function isStart<Chunk extends { readonly type: string }>(
  chunk: Chunk,
): chunk is Extract<Chunk, { type: 'text-start' | 'reasoning-start' }> {
  return chunk.type === 'text-start' || chunk.type === 'reasoning-start';
}
