import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { JudgingDeps } from '../judging/judge.ts';
import { memoryProblems } from '../problems.ts';
import { entityOf } from '../selfservice/entity.ts';
import { extraction, extractionRequest } from './api.ts';
import { extractMemories } from './extracting.ts';

/** `deps` is `undefined` without a language model. */
export function addExtractionRoutes(app: HttpServer, access: Access, deps: JudgingDeps | undefined): void {
  const routes = routesOf(app, 'memory');
  routes.post(
    '/memory/extract',
    access.userOrInternal,
    { summary: 'Extract memories from messages', body: extractionRequest, response: { 200: extraction } },
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
