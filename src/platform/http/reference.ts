/** `GET /openapi.json` (3.1) and `GET /docs`, both made from the routes and their schemas (CONTRACT §3). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Accepts } from '../access/access.ts';
import { version } from '../version.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { type ApiDocument, type Operation, renderReferencePage } from './referencepage.ts';

const css = readFileSync(new URL('./reference.css', import.meta.url), 'utf8');
const cssHash = createHash('sha256').update(css).digest('base64');
/** Nothing but the page's own style sheet is loaded or run. */
const pagePolicy = `default-src 'none'; style-src 'sha256-${cssHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** What a guard (platform/access) accepts, in the words of OpenAPI. */
const securityByAccess: Readonly<Record<Accepts, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  user: [{ accessToken: [] }],
  internal: [{ internalKey: [] }],
  userOrInternal: [{ accessToken: [] }, { internalKey: [] }],
  admin: [{ adminToken: [] }],
};

export function addReference(app: HttpServer, options: Pick<ServerOptions, 'service' | 'description'>): void {
  let document: ApiDocument | undefined;
  let page: string | undefined;
  const describeService = () => {
    document ??= withCommonProblem(app.swagger() as ApiDocument);
    return document;
  };
  // Called as a function: as a registered plugin it would miss every route that is added before the server is ready.
  swagger(
    app,
    {
      openapi: {
        openapi: '3.1.0',
        info: { title: `Atelier: ${options.service}`, version, description: options.description ?? '' },
        components: { securitySchemes },
      },
      convertConstToEnum: false,
      transform: ({ route, ...rest }) => {
        const transformed = jsonSchemaTransform({ route, ...rest });
        const access = route.config?.access;
        return access === undefined
          ? transformed
          : { ...transformed, schema: { ...transformed.schema, security: securityByAccess[access] } };
      },
      transformObject: jsonSchemaTransformObject,
    },
    () => undefined,
  );

  app.get('/openapi.json', describe('This service in OpenAPI 3.1'), async () => describeService());
  app.get('/docs', describe('This page'), async (_request, reply) => {
    page ??= renderReferencePage(describeService(), css);
    return reply.header('content-security-policy', pagePolicy).type('text/html; charset=utf-8').send(page);
  });
}

const describe = (summary: string) => ({ schema: { tags: ['operations'], summary } });

const securitySchemes = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of a user.',
  },
  internalKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Internal-Key',
    description: 'The key that servers share. When it is present it decides alone.',
  },
  adminToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Admin-Token',
    description: 'The token of operators.',
  },
} as const;

const problemSchema = {
  type: 'object',
  required: ['error', 'message', 'requestId'],
  properties: {
    error: { type: 'string', description: 'A stable code in snake case.' },
    message: { type: 'string', description: 'One sentence for people.' },
    requestId: { type: 'string', description: 'To be named when asking about this answer; also in X-Request-Id.' },
    issues: {
      type: 'array',
      description: 'What is wrong with the request, field by field (400).',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

/** Every operation can fail, and every failure looks alike: written once. */
function withCommonProblem(document: ApiDocument): ApiDocument {
  const problem = { $ref: '#/components/responses/Problem' };
  const withProblem = (operation: Operation) => ({
    ...operation,
    responses: { ...operation.responses, default: problem },
  });
  const paths = Object.entries(document.paths ?? {}).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, withProblem(operation)])),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, Problem: problemSchema },
      responses: {
        Problem: {
          description: 'Any failure.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  };
}
