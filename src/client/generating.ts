/** Orders of images and videos that report their progress: `atelier.images.generate(…)`. */
import type { Generation, ImagesRequest, VideosRequest } from './agent/api.ts';
import type { AgentCalls } from './agent/calls.ts';
import type { KeyedOptions } from './calling.ts';
import { sleep } from './pausing.ts';

export interface GenerateOptions extends KeyedOptions {
  /** Called when the order is accepted, and whenever an item has ended. */
  readonly onProgress?: ((generation: Generation) => void) | undefined;
}

export interface Generating<Request> {
  /**
   * Orders, and resolves when all items have ended: `status` and each item's `failure` show how. An aborted `signal` cancels the
   * order; items that are delivered by then stay. Throws `AtelierError` if the order is refused.
   */
  generate(request: Request, options?: GenerateOptions): Promise<Generation>;
}

const firstLookMs = 500;
const longestLookMs = 3000;

export const imagesOf = (agent: AgentCalls): Generating<ImagesRequest> => generating(agent, agent.generateImages);
export const videosOf = (agent: AgentCalls): Generating<VideosRequest> => generating(agent, agent.generateVideo);

function generating<Request>(
  agent: AgentCalls,
  order: (request: Request, options: KeyedOptions) => Promise<Generation>,
): Generating<Request> {
  return {
    async generate(request, { onProgress, ...options } = {}) {
      const { signal } = options;
      // A repeated request must not order again.
      let generation = await order(request, { idempotencyKey: crypto.randomUUID(), ...options });
      onProgress?.(generation);
      for (let lookMs = firstLookMs; generation.status === 'running'; lookMs = Math.min(lookMs * 1.5, longestLookMs)) {
        try {
          await sleep(lookMs, signal);
        } catch (reason) {
          await agent.cancelGeneration(generation.id).catch(() => undefined);
          throw reason;
        }
        const latest = await agent.readGeneration(generation.id, signal && { signal });
        const hasChanged = endedIn(latest) !== endedIn(generation) || latest.status !== generation.status;
        generation = latest;
        if (hasChanged) onProgress?.(generation);
      }
      return generation;
    },
  };
}

const endedIn = ({ items }: Generation) => items.filter(({ status }) => status !== 'running').length;
