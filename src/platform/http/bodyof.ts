import { Problem, problems } from '../problem.ts';
import type { HttpClient } from './client.ts';

type Response = Awaited<ReturnType<HttpClient['send']>>;

/** Returns the body. Throws the problem of the service. A rejected key is a fault of the installation. */
export function bodyOf<T>(response: Response): T {
  const { status } = response;
  if (status < 300) return (response.body.length === 0 ? undefined : response.json()) as T;
  if (status === 401 || status === 403)
    throw problems.engine_unavailable({ cause: new Error('a service rejects INTERNAL_KEY') });
  const body = response.json();
  const textAt = (name: string) => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const message = textAt('message') ?? 'The service refused the request.';
  throw new Problem(textAt('error') ?? 'invalid_request', { status, message });
}
