/** Types of the files of undici that `dispatchers.ts` loads. The package declares only those of its index. */
declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici';
}
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
declare module 'undici/lib/api/index.js' {
  const api: Pick<import('undici').Dispatcher, 'request'>;
  export default api;
}
declare module 'undici/lib/global.js' {
  const agents: Pick<typeof import('undici'), 'getGlobalDispatcher'>;
  export default agents;
}
