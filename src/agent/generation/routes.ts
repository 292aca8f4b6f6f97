/** The endpoints of generations (docs/specification/agent.md#generations). */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { AgentContext } from '../context.ts';
import { namedUserOf, userOf } from '../threads/changes.ts';
import * as api from './api.ts';
import { cancelGeneration, readGeneration, readGenerations, waitForEnd } from './generations.ts';
import { orderImages, orderVideo } from './orders.ts';

const ordering = [
  'forbidden',
  'insufficient_plan',
  'insufficient_credits',
  'account_blocked',
  'too_many_runs',
  'prompt_refused',
  'idempotency_conflict',
] as const;
const headers = idempotencyHeaders.extend(api.preferHeader.shape);
const ordered = {
  201: api.generation.describe('It has ended within the time of `Prefer: wait`.'),
  202: api.generation,
};
const asset = 'asset:0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';

export function addGenerationRoutes(app: HttpServer, access: Access, deps: AgentContext): void {
  const routes = routesOf(app, 'generations');
  const answer = async (reply: FastifyReply, userId: string, id: string, prefer: string | undefined) => {
    const waitS = api.waitOf(prefer);
    const ended = waitS > 0 ? await waitForEnd(deps, { userId, id }, endOfWait(reply, waitS)) : undefined;
    return reply.code(ended ? 201 : 202).send(ended ?? (await readGeneration(deps, userId, id)));
  };

  routes.post('/images', access.userOrInternal, {
    id: 'generateImages',
    summary: 'Generate images',
    description:
      'Orders images from a model of `GET /models`. With references, the model edits or combines them. Each image costs credits when it is delivered. With `Prefer: wait=60`, the response waits for the end.',
    problems: ordering,
    example: { prompt: 'A lighthouse at dusk.', n: 4, ratio: '16:9' },
    headers,
    body: api.imagesRequest,
    response: ordered,
    handler: async ({ caller, body, headers: sent }, reply) => {
      const userId = userOf(caller, body.userId, 'body.userId');
      const id = await orderImages(deps, userId, body, sent['idempotency-key']);
      return answer(reply, userId, id, sent.prefer);
    },
  });

  routes.post('/videos', access.userOrInternal, {
    id: 'generateVideo',
    summary: 'Generate a video',
    description:
      'Orders a video from a model of `GET /models`. With `firstFrame`, the video starts with that image. It costs credits when it is delivered. Videos wait for their turn if the user has too many.',
    problems: ordering,
    example: { prompt: 'Waves roll in.', ratio: '16:9', firstFrame: asset },
    headers,
    body: api.videosRequest,
    response: ordered,
    handler: async ({ caller, body, headers: sent }, reply) => {
      const userId = userOf(caller, body.userId, 'body.userId');
      const id = await orderVideo(deps, userId, body, sent['idempotency-key']);
      return answer(reply, userId, id, sent.prefer);
    },
  });

  routes.get('/generations', access.userOrInternal, {
    id: 'listGenerations',
    summary: 'List the generations of a user, newest first',
    description: 'Returns a page of generations, with the orders of MCP clients and the videos of runs.',
    querystring: api.generationListing,
    response: { 200: api.generationPage },
    handler: async ({ caller, query }) =>
      readGenerations(deps, userOf(caller, query.userId, 'querystring.userId'), query),
  });

  routes.get('/generations/:id', access.userOrInternal, {
    id: 'readGeneration',
    summary: 'Read a generation',
    description: 'Returns a generation with its items, and signed URLs of what is delivered.',
    problems: ['forbidden', 'not_found'],
    params: api.generationParams,
    response: { 200: api.generation },
    handler: async ({ caller, params }) => readGeneration(deps, namedUserOf(caller, undefined, ''), params.id),
  });

  routes.delete('/generations/:id', access.userOrInternal, {
    id: 'cancelGeneration',
    summary: 'Cancel a generation',
    description:
      'Cancels the items that are not delivered, and returns their credits. Delivered items stay. You can repeat the request.',
    problems: ['forbidden', 'not_found'],
    params: api.generationParams,
    response: { 204: z.null() },
    handler: async ({ caller, params }) => cancelGeneration(deps, namedUserOf(caller, undefined, ''), params.id),
  });
}

/** After `waitS`, or when the client disconnects. */
function endOfWait(reply: FastifyReply, waitS: number): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, AbortSignal.timeout(waitS * 1000)]);
}
