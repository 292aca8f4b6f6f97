/** Endpoints of every service that need no credential (docs/http.md). They are called once, because the current state is wanted. */
import { type Access, type CallOptions, callJson, callText, callVoid } from './calling.ts';

export function operationsOf(access: Access) {
  const get = (path: string) => ({ method: 'GET', path, repeatable: false });
  return {
    /** GET /: the service responds. */
    ping: (options?: CallOptions): Promise<void> => callVoid(access, get('/'), options),
    /** GET /health: the process is running. */
    checkHealth: (options?: CallOptions): Promise<void> => callVoid(access, get('/health'), options),
    /** GET /ready: its engines respond. Otherwise throws `AtelierError` with status 503 and the engines in `body`. */
    checkReadiness: (options?: CallOptions): Promise<void> => callVoid(access, get('/ready'), options),
    /** GET /metrics: in the Prometheus text format. */
    readMetrics: (options?: CallOptions): Promise<string> => callText(access, get('/metrics'), options),
    /** GET /metrics/errors: the last responses of the process with a 5xx status. */
    listErrors: (options?: CallOptions): Promise<Readonly<Record<string, unknown>>> =>
      callJson(access, get('/metrics/errors'), options),
    /** GET /openapi.json: the service in OpenAPI 3.1. */
    readOpenApi: (options?: CallOptions): Promise<Readonly<Record<string, unknown>>> =>
      callJson(access, get('/openapi.json'), options),
    /** GET /docs: the reference as a page. */
    readReference: (options?: CallOptions): Promise<string> => callText(access, get('/docs'), options),
  };
}
