/** A network that breaks: `fetch` whose connections are cut at random places, the same for the same seed. */

export interface ShakyNetwork {
  readonly fetch: typeof globalThis.fetch;
  readonly calls: number;
  /** Of connections, so far. */
  readonly cuts: number;
}

export interface Shaking {
  /** Otherwise, only the calls below fail. */
  readonly cutStreams?: boolean;
  /** The first POST arrives, and its answer does not; the caller hears of it so much later. */
  readonly loseFirstAnswer?: number;
}

/** A stream that goes through as often as this keeps the tests from running for ever. */
const wholeOneIn = 5;
const longestPiece = 1500;

export function shakyNetwork(seed: number, { cutStreams = true, loseFirstAnswer }: Shaking = {}): ShakyNetwork {
  const random = randomNumbers(seed);
  const seen = { calls: 0, cuts: 0 };
  let toLose = loseFirstAnswer !== undefined;

  async function shakyFetch(...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    seen.calls += 1;
    const isStart = init?.method === 'POST';
    if (cutStreams && !isStart && random() < 0.2) {
      seen.cuts += 1;
      throw new TypeError('fetch failed');
    }
    const response = await globalThis.fetch(input, init);
    if (isStart && toLose) {
      toLose = false;
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, loseFirstAnswer));
      throw new TypeError('fetch failed');
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!cutStreams || !isStream || response.body === null || random() * wholeOneIn < 1) return response;
    return new Response(cutOff(response.body, Math.floor(random() * longestPiece)), response);
  }

  /** After so many bytes, in the midst of an event or a character as it falls: with an error, or without a word. */
  function cutOff(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    bytes: number,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    let left = bytes;
    const isSilent = random() < 0.5;
    const reader = body.getReader();
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (value.length <= left) {
          left -= value.length;
          return controller.enqueue(value);
        }
        seen.cuts += 1;
        controller.enqueue(value.slice(0, left));
        await reader.cancel();
        if (isSilent) controller.close();
        else controller.error(new TypeError('terminated'));
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  return {
    fetch: shakyFetch,
    get calls() {
      return seen.calls;
    },
    get cuts() {
      return seen.cuts;
    },
  };
}

/** Mulberry32: numbers from 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
