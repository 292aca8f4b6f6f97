import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { JudgingContext } from '../context.ts';
import { memoryProblems } from '../problems.ts';
import { entityOf } from '../selfservice/entity.ts';
import { extraction, extractionRequest } from './api.ts';
import { extractMemories } from './extracting.ts';

const user = { entity_id: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', entity_type: 'user' };
const adding = ['memory_full', 'embedder_unavailable'] as const;

/** `deps` is `undefined` without a language model. */
export function addExtractionRoutes(app: HttpServer, access: Access, deps: JudgingContext | undefined): void {
  const routes = routesOf(app, 'memory');
  routes.post(
    '/memory/extract',
    access.userOrInternal,
    {
      id: 'extractMemories',
      summary: 'Extract memories from messages',
      description:
        'A language model finds facts in the messages. They are stored in the same way as by `POST /memory/add`. The headers `X-Model`, `X-Input-Tokens` and `X-Output-Tokens` describe the call.',
      problems: ['forbidden', 'model_calls_used_up', 'model_unavailable', ...adding],
      example: { ...user, messages: [{ role: 'user', content: 'I paint in watercolor, never in oil.' }] },
      client: { body: 'ExtractionRequest', answer: 'Extraction' },
      body: extractionRequest,
      response: { 200: extraction },
    },
    async ({ caller, body }, reply) => {
      const entity = entityOf(caller, body, 'body');
      if (deps === undefined) throw memoryProblems.model_unavailable();
      const { memories, model, usage } = await extractMemories(deps, entity, body);
      return reply
        .header('x-model', encodeURIComponent(model))
        .header('x-input-tokens', usage.inputTokens)
        .header('x-output-tokens', usage.outputTokens)
        .send({ memories });
    },
  );
}
