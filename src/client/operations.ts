/** What every service answers without a credential (docs/http.md). Asked once each: the answer is how it is now. */
import { type Access, type CallOptions, callJson, callText, callVoid } from './calling.ts';

export function operationsOf(access: Access) {
  const ask = (path: string) => ({ method: 'GET', path, repeatable: false });
  return {
    /** GET /: the service answers. */
    ping: (options?: CallOptions): Promise<void> => callVoid(access, ask('/'), options),
    /** GET /health: the process lives. */
    checkHealth: (options?: CallOptions): Promise<void> => callVoid(access, ask('/health'), options),
    /** GET /ready: its engines answer. Throws `AtelierError` with status 503 and the engines in `body`, when they do not. */
    checkReadiness: (options?: CallOptions): Promise<void> => callVoid(access, ask('/ready'), options),
    /** GET /metrics: in the words of Prometheus. */
    readMetrics: (options?: CallOptions): Promise<string> => callText(access, ask('/metrics'), options),
    /** GET /openapi.json: the service in OpenAPI 3.1. */
    readOpenApi: (options?: CallOptions): Promise<Readonly<Record<string, unknown>>> =>
      callJson(access, ask('/openapi.json'), options),
    /** GET /docs: the reference as a page. */
    readReference: (options?: CallOptions): Promise<string> => callText(access, ask('/docs'), options),
  };
}
