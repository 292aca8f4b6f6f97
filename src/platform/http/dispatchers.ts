/// <reference path="./undici.d.ts" />
/**
 * The parts of undici that each process needs. Its index also loads mocks, caches, WebSockets and `fetch`, which is half a megabyte of
 * code.
 */
import type { Dispatcher } from 'undici';
import api from 'undici/lib/api/index.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import agents from 'undici/lib/global.js';

// The index does the same.
Object.assign(AnyDispatcher.prototype, api);

export { Agent, Pool };

interface RequestOptions extends Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> {
  readonly method?: Dispatcher.HttpMethod;
  /** Default: the agent of the process. */
  readonly dispatcher?: Dispatcher;
}

export function request(
  url: string | URL,
  { dispatcher = agents.getGlobalDispatcher(), method = 'GET', ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({ ...options, origin, path: pathname + search, method });
}
