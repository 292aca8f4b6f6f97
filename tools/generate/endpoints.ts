/** The operations that have functions in the typed client, as the OpenAPI documents of the services name them. */
import type { ClientFunction } from '#platform/http/apidocument.ts';

/** The services that the client has functions for. */
export const services = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify'] as const;

/** Endpoints of every service; see `src/client/operations.ts`. */
export const operations = ['/', '/health', '/ready', '/metrics', '/metrics/errors', '/openapi.json', '/docs'];

interface Named {
  readonly operationId?: string;
  readonly 'x-client'?: ClientFunction;
}

/** Maps `POST /v1/uploads` to its operation, without the operations that all services have. */
export function operationsIn<Operation>({
  paths = {},
}: {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(paths)
      .filter(([path]) => !operations.includes(path))
      .flatMap(([path, byMethod]) =>
        Object.entries(byMethod).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
      ),
  );
}

export interface Endpoint extends ClientFunction {
  readonly name: string;
}

/** Throws if an operation has no id: its route must declare one. */
export function endpointOf(key: string, { operationId, 'x-client': client }: Named): Endpoint {
  if (operationId === undefined) throw new Error(`the route ${key} has no id`);
  return { name: operationId, ...client };
}
